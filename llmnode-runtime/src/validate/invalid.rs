//! What a validator returns about a bad answer.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::{self, Display};

use serde::Serialize;

use crate::text::{one_line, one_line_shortened, write_joined};

/// One thing that is wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Violation {
    /// The path in the JSON's own names, such as `steps[2].item`. Empty for the whole answer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// The allowed values, if there is a list of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
    /// Whether the answer is accepted anyway.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub warning: bool,
    /// More is allowed than `allowed` lists.
    #[serde(skip)]
    pub(crate) more: bool,
    /// What the model is asked to do about it; empty if that is obvious.
    #[serde(skip)]
    pub(crate) remedy: Cow<'static, str>,
}

const MAX_LISTED: usize = 100;

impl Violation {
    /// Creates a violation at a path. An empty path is the whole answer.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        let (path, message) = (path.into(), message.into());
        Violation {
            path,
            message,
            allowed: Vec::new(),
            warning: false,
            more: false,
            remedy: Cow::Borrowed(""),
        }
    }

    /// On one line of about a kilobyte. The allowed values have their own share of it, so that a long quotation before them
    /// does not push them out.
    pub(crate) fn shortened(mut self) -> Self {
        let mut room = 400_usize;
        let fits = |value: &&String| {
            let left = room.checked_sub(value.len());
            room = left.unwrap_or(room);
            left.is_some()
        };
        let fitting = self.allowed.iter().take_while(fits).count();
        if fitting < self.allowed.len() {
            self.more = true;
            self.allowed.truncate(fitting);
            self.allowed.shrink_to_fit();
        }
        self.path = one_line(self.path, 200);
        self.message = one_line_shortened(self.message, 600);
        self
    }
}

impl Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        for (index, value) in self.allowed.iter().enumerate() {
            write!(f, "{}{value:?}", if index == 0 { "; allowed: " } else { ", " })?;
        }
        f.write_str(if self.more && !self.allowed.is_empty() { ", …" } else { "" })
    }
}

/// Why a validator rejects an answer.
///
/// `Invalid` does not implement [`Error`]. `?` on an error *of the program*, such as a failed database query inside a
/// validator, therefore converts to [`Invalid::abort`] and ends the call at once. A mistake of the *model* has to be
/// written out.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::Invalid;
///
/// fn fits(item: &str, inventory: &[&str]) -> Result<(), Invalid> {
///     if inventory.contains(&item) {
///         return Ok(());
///     }
///     Err(Invalid::at("item", format!("{item:?} is not available")).allowed(inventory))
/// }
///
/// let invalid = fits("axe", &["key", "lamp"]).unwrap_err();
/// assert_eq!(invalid.to_string(), r#"item: "axe" is not available; allowed: "key", "lamp""#);
/// ```
pub struct Invalid(Inner);

enum Inner {
    Answer(Vec<Violation>),
    Abort(Box<dyn Error + Send + Sync>),
}

impl Invalid {
    /// Rejects the whole answer. The message goes to the model.
    pub fn new(message: impl Into<String>) -> Self {
        Invalid::at("", message)
    }

    /// Rejects the value at a path. The message goes to the model. The path starts at the validated type, such as
    /// `"item"` or `"steps[2].item"`: first one of its fields, by its JSON name or its Rust name, then JSON names.
    pub fn at(path: impl Into<String>, message: impl Into<String>) -> Self {
        Invalid(Inner::Answer(vec![Violation::new(path, message)]))
    }

    /// Accepts the answer with a warning. The record has it, and the model never sees it.
    pub fn warn(message: impl Into<String>) -> Self {
        Invalid::warn_at("", message)
    }

    /// Like [`warn`](Invalid::warn), at a path.
    pub fn warn_at(path: impl Into<String>, message: impl Into<String>) -> Self {
        let warning = Violation { warning: true, ..Violation::new(path, message) };
        Invalid(Inner::Answer(vec![warning]))
    }

    /// Ends the call at once with this error of the program. The model never sees it.
    pub fn abort(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Invalid(Inner::Abort(error.into()))
    }

    /// Lists the allowed values for the violation added last: the first hundred of them.
    #[must_use]
    pub fn allowed(mut self, values: impl IntoIterator<Item = impl Display>) -> Self {
        if let Inner::Answer(violations) = &mut self.0
            && let Some(last) = violations.last_mut()
        {
            let mut values = values.into_iter();
            last.allowed = values.by_ref().take(MAX_LISTED).map(|value| value.to_string()).collect();
            last.more = values.next().is_some();
        }
        self
    }

    /// Adds what another check found. An abort wins.
    #[must_use]
    pub fn and(self, other: Invalid) -> Self {
        match (self.0, other.0) {
            (Inner::Answer(mut violations), Inner::Answer(more)) => {
                violations.extend(more);
                Invalid(Inner::Answer(violations))
            }
            (abort @ Inner::Abort(_), _) | (_, abort @ Inner::Abort(_)) => Invalid(abort),
        }
    }

    /// Returns what is wrong with the answer, with warnings. Empty for an error of the program.
    pub fn violations(&self) -> &[Violation] {
        match &self.0 {
            Inner::Answer(violations) => violations,
            Inner::Abort(_) => &[],
        }
    }

    pub(crate) fn into_violations(self) -> Result<Vec<Violation>, Box<dyn Error + Send + Sync>> {
        match self.0 {
            Inner::Answer(violations) => Ok(violations),
            Inner::Abort(error) => Err(error),
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for Invalid {
    fn from(error: E) -> Self {
        Invalid::abort(error)
    }
}

impl Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Answer(violations) => write_joined(violations, "\n", f),
            Inner::Abort(error) => write!(f, "aborted: {error}"),
        }
    }
}

impl fmt::Debug for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Answer(violations) => f.debug_tuple("Invalid").field(violations).finish(),
            Inner::Abort(error) => f.debug_tuple("Abort").field(error).finish(),
        }
    }
}
