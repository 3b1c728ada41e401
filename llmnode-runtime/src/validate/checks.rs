//! The checks collected from one answer, each with the path where it was found.

use std::fmt;
use std::future::Future;

use llmnode_model::BoxFuture;

use super::invalid::Invalid;

/// Which answer of a call a validator sees, or which execution of a node without a model [it is](crate::Cx::attempt).
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{AttemptInfo, Invalid};
///
/// fn is_polite(text: &str, attempt: &AttemptInfo) -> Result<(), Invalid> {
///     // The last answer is kept, with a flag in its record.
///     let complaint = if attempt.is_last() { Invalid::warn } else { Invalid::new };
///     if text.contains("please") { Ok(()) } else { Err(complaint("say please")) }
/// }
///
/// assert!(!is_polite("Go.", &AttemptInfo::new(0, 1)).unwrap_err().violations()[0].warning);
/// assert!(is_polite("Go.", &AttemptInfo::new(1, 1)).unwrap_err().violations()[0].warning);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptInfo {
    index: u32,
    maximum: u32,
    has_fallback: bool,
}

impl AttemptInfo {
    /// Creates the attempt number `index`, from 0, of a call with at most `maximum` corrections.
    pub fn new(index: u32, maximum: u32) -> Self {
        AttemptInfo {
            index,
            maximum,
            has_fallback: false,
        }
    }

    pub(crate) fn with_fallback(self, has_fallback: bool) -> Self {
        AttemptInfo {
            has_fallback,
            ..self
        }
    }

    /// Returns how many bad answers of this model, or failed executions, came before: 0 for the first attempt.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Returns the largest possible index: by default the call's `retries`; for executions, `attempts` less one.
    pub fn maximum(&self) -> u32 {
        self.maximum
    }

    /// Returns whether nothing follows a bad answer: no correction, no other model, no fallback value.
    pub fn is_last(&self) -> bool {
        self.index >= self.maximum && !self.has_fallback
    }
}

pub(super) type CheckResult = Result<(), Invalid>;
type SyncCheck<'a, S> = dyn FnOnce(&S, &AttemptInfo) -> CheckResult + Send + 'a;
type AsyncCheck<'a, S> =
    dyn FnOnce(&'a S, &'a AttemptInfo) -> BoxFuture<'a, CheckResult> + Send + 'a;

pub(super) enum Check<'a, S: ?Sized> {
    Sync(Box<SyncCheck<'a, S>>),
    Async(Box<AsyncCheck<'a, S>>),
}

pub(super) struct PendingCheck<'a, S: ?Sized> {
    pub(super) path: String,
    pub(super) names: &'static [(&'static str, &'static str)],
    pub(super) validator: &'static str,
    pub(super) check: Check<'a, S>,
}

/// Collects the checks of an answer and of everything inside it.
pub struct Checks<'a, S: ?Sized> {
    path: String,
    names: &'static [(&'static str, &'static str)],
    pub(super) list: Vec<PendingCheck<'a, S>>,
}

impl<S: ?Sized> Default for Checks<'_, S> {
    fn default() -> Self {
        Checks {
            path: String::new(),
            names: &[],
            list: Vec::new(),
        }
    }
}

impl<'a, S: ?Sized> Checks<'a, S> {
    pub(crate) fn at(path: &str) -> Self {
        Checks {
            path: path.to_owned(),
            ..Checks::default()
        }
    }

    /// Adds a validator that is not async.
    pub fn sync(
        &mut self,
        validator: &'static str,
        check: impl FnOnce(&S, &AttemptInfo) -> CheckResult + Send + 'a,
    ) {
        self.push(validator, Check::Sync(Box::new(check)));
    }

    /// Adds an async validator.
    pub fn future<F>(
        &mut self,
        validator: &'static str,
        check: impl FnOnce(&'a S, &'a AttemptInfo) -> F + Send + 'a,
    ) where
        F: Future<Output = CheckResult> + Send + 'a,
    {
        self.push(
            validator,
            Check::Async(Box::new(|state, attempt| Box::pin(check(state, attempt)))),
        );
    }

    /// Sets the Rust names that the validators that follow may use for JSON names.
    pub fn names(&mut self, names: &'static [(&'static str, &'static str)]) {
        self.names = names;
    }

    /// Collects inside the member `name` of an object.
    pub fn field(&mut self, name: &str, collect: impl FnOnce(&mut Self)) {
        self.nested(collect, |path| push_key(path, name));
    }

    /// Collects inside the element `index` of an array.
    pub fn index(&mut self, index: usize, collect: impl FnOnce(&mut Self)) {
        self.nested(collect, |path| path.push_str(&format!("[{index}]")));
    }

    fn nested(&mut self, collect: impl FnOnce(&mut Self), push: impl FnOnce(&mut String)) {
        let length = self.path.len();
        let names = self.names;
        push(&mut self.path);
        collect(self);
        self.path.truncate(length);
        self.names = names;
    }

    pub(super) fn push(&mut self, validator: &'static str, check: Check<'a, S>) {
        self.list.push(PendingCheck {
            path: self.path.clone(),
            names: self.names,
            validator,
            check,
        });
    }
}

impl<S: ?Sized> fmt::Debug for Checks<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.list.iter().map(|check| (&check.path, check.validator)))
            .finish()
    }
}

fn push_key(path: &mut String, name: &str) {
    if name.is_empty()
        || name.contains(|c: char| matches!(c, '.' | '[' | ']' | '"') || c.is_whitespace())
    {
        path.push_str(&format!("[{name:?}]"));
    } else {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
    }
}

/// `own`: a validator's path below `at`; its first name may be a Rust name.
pub(super) fn join(at: &str, names: &[(&str, &str)], own: &str) -> String {
    let end = own.find(['.', '[']).unwrap_or(own.len());
    let (head, rest) = own.split_at(end);
    let head = names
        .iter()
        .find(|(rust, _)| *rust == head)
        .map_or(head, |(_, json)| *json);
    let mut path = at.to_owned();
    if !head.is_empty() {
        push_key(&mut path, head);
    }
    path.push_str(rest);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_in_json_names() {
        assert_eq!(join("", &[], "item"), "item");
        assert_eq!(
            join("steps[2]", &[("item_name", "itemName")], "item_name.x[0]"),
            "steps[2].itemName.x[0]"
        );
        assert_eq!(join("steps", &[], "[3].item"), "steps[3].item");
        assert_eq!(join("steps", &[], ""), "steps");
    }

    #[test]
    fn keys_with_dots_are_quoted() {
        let mut path = "by".to_owned();
        push_key(&mut path, "a.b");
        assert_eq!(path, "by[\"a.b\"]");
    }

    #[test]
    fn the_last_attempt_knows_it() {
        assert!(!AttemptInfo::new(1, 2).is_last());
        assert!(AttemptInfo::new(2, 2).is_last());
        assert!(AttemptInfo::new(0, 0).is_last());
    }
}
