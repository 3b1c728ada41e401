//! What a validator returns about a bad answer.

use std::error::Error;
use std::fmt::{self, Display};

use llmnode_reader::Violation;
use llmnode_reader::ask::{allow_only, list_allowed};
use llmnode_reader::text::write_joined;

/// Why a validator rejects an answer.
///
/// `Invalid` does not implement [`Error`]. `?` on an error *of the program*, such
/// as a failed database query inside a validator, therefore converts to
/// [`Invalid::abort`] and ends the call at once. A mistake of the *model* has to be
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
pub struct Invalid(Reason);

enum Reason {
    /// The model is to blame: it is told, and asked again. Warnings are among them.
    Answer(Vec<Violation>),
    /// The program is to blame: the call ends, and the model hears nothing.
    Abort(Box<dyn Error + Send + Sync>),
}

impl Invalid {
    /// Rejects the whole answer. The message goes to the model.
    pub fn new(message: impl Into<String>) -> Self {
        Invalid::at("", message)
    }

    /// Rejects the value at a path. The message goes to the model. The path starts
    /// at the validated type, such as `"item"` or `"steps[2].item"`: first one of
    /// its fields, by its JSON name or its Rust name, then JSON names.
    pub fn at(path: impl Into<String>, message: impl Into<String>) -> Self {
        Invalid(Reason::Answer(vec![Violation::new(path, message)]))
    }

    /// Accepts the answer with a warning. The record has it, and the model never sees it.
    pub fn warn(message: impl Into<String>) -> Self {
        Invalid::warn_at("", message)
    }

    /// Like [`warn`](Invalid::warn), at a path.
    pub fn warn_at(path: impl Into<String>, message: impl Into<String>) -> Self {
        let mut warning = Violation::new(path, message);
        warning.warning = true;
        Invalid(Reason::Answer(vec![warning]))
    }

    /// Ends the call at once with this error of the program. The model never sees it.
    pub fn abort(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Invalid(Reason::Abort(error.into()))
    }

    /// Lists the allowed values for the violation added last: the first hundred of them.
    #[must_use]
    pub fn allowed(mut self, values: impl IntoIterator<Item = impl Display>) -> Self {
        if let Reason::Answer(violations) = &mut self.0
            && let Some(last) = violations.last_mut()
        {
            list_allowed(last, values);
        }
        self
    }

    /// Closes the list that [`allowed`](Invalid::allowed) has added: where the
    /// server enforces schemas, the next answer has one of its values at this path,
    /// or `null` for an `Option`. The record of that attempt says so
    /// ([`narrowed`](crate::AttemptRecord::narrowed)).
    ///
    /// It is for values that a model *chooses*. Where it *reads* a fact, a closed
    /// list makes a wrong one look right.
    ///
    /// The list stays in words alone if it has more than a hundred values, if the
    /// path has an index (`steps[2].item`), leads through a map or into several
    /// variants, or if the value is neither a text nor a whole number. A list that
    /// is refused again is not closed again in this call.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// use llmnode::Invalid;
    ///
    /// let invalid = Invalid::at("item", "is not here").allowed(["key", "lamp"]).only();
    /// assert_eq!(invalid.to_string(), r#"item: is not here; allowed: "key", "lamp""#);
    /// ```
    #[must_use]
    pub fn only(mut self) -> Self {
        if let Reason::Answer(violations) = &mut self.0
            && let Some(last) = violations.last_mut()
        {
            allow_only(last);
        }
        self
    }

    /// Adds what another check found. An abort wins.
    #[must_use]
    pub fn and(self, other: Invalid) -> Self {
        match (self.0, other.0) {
            (Reason::Answer(mut violations), Reason::Answer(more)) => {
                violations.extend(more);
                Invalid(Reason::Answer(violations))
            }
            (abort @ Reason::Abort(_), _) | (_, abort @ Reason::Abort(_)) => Invalid(abort),
        }
    }

    /// Returns what is wrong with the answer, with warnings. Empty for an error of the program.
    pub fn violations(&self) -> &[Violation] {
        match &self.0 {
            Reason::Answer(violations) => violations,
            Reason::Abort(_) => &[],
        }
    }

    /// Splits what the model did wrong from what the program did wrong, which is the error.
    pub(crate) fn into_violations(self) -> Result<Vec<Violation>, Box<dyn Error + Send + Sync>> {
        match self.0 {
            Reason::Answer(violations) => Ok(violations),
            Reason::Abort(error) => Err(error),
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
            Reason::Answer(violations) => write_joined(violations, "\n", f),
            Reason::Abort(error) => write!(f, "aborted: {error}"),
        }
    }
}

impl fmt::Debug for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reason::Answer(violations) => f.debug_tuple("Invalid").field(violations).finish(),
            Reason::Abort(error) => f.debug_tuple("Abort").field(error).finish(),
        }
    }
}
