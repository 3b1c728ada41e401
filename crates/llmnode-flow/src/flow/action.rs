//! What a step decides.

use std::borrow::Cow;

/// What a step decides. Flows that are built at run time route by its name.
///
/// `#[derive(Action)]` implements it for enums. `()`, the action of a step that
/// decides nothing, is named `"default"`, and so is an empty text.
///
/// ```
/// # mod llmnode { pub use llmnode_flow::*; }
/// use std::borrow::Cow;
///
/// use llmnode::flow::Action;
///
/// /// Whether a letter is answered now.
/// struct Urgent(bool);
///
/// impl Action for Urgent {
///     const NAMES: Option<&'static [&'static str]> = Some(&["now", "later"]);
///
///     fn name(&self) -> Cow<'static, str> {
///         Cow::Borrowed(if self.0 { "now" } else { "later" })
///     }
/// }
///
/// assert_eq!(Urgent(true).name(), "now");
/// assert_eq!(true.name(), "true"); // a `bool` is an action already
/// ```
pub trait Action: Send + 'static {
    /// All names; `None` if any text may be one.
    const NAMES: Option<&'static [&'static str]>;

    /// Returns the name of this action.
    fn name(&self) -> Cow<'static, str>;
}

pub(super) const DEFAULT: &str = "default";

impl Action for () {
    const NAMES: Option<&'static [&'static str]> = Some(&[DEFAULT]);

    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(DEFAULT)
    }
}

impl Action for bool {
    const NAMES: Option<&'static [&'static str]> = Some(&["true", "false"]);

    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(if *self { "true" } else { "false" })
    }
}

impl Action for String {
    const NAMES: Option<&'static [&'static str]> = None;

    fn name(&self) -> Cow<'static, str> {
        if self.is_empty() {
            Cow::Borrowed(DEFAULT)
        } else {
            Cow::Owned(self.clone())
        }
    }
}

impl Action for &'static str {
    const NAMES: Option<&'static [&'static str]> = None;

    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(if self.is_empty() { DEFAULT } else { self })
    }
}
