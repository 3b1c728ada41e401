//! The checks collected from one answer, each with the path where it was found.

use std::fmt;
use std::future::Future;

use llmnode_model::BoxFuture;

use super::invalid::Invalid;

/// Which answer of a call a validator sees, or which execution of a node without a
/// model [it is](crate::Cx::attempt).
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

    /// Returns how many bad answers of this model, or failed executions, came
    /// before: 0 for the first attempt.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Returns the largest possible index: by default the call's `retries`; for
    /// executions, `attempts` less one.
    pub fn maximum(&self) -> u32 {
        self.maximum
    }

    /// Returns whether nothing follows a bad answer: no correction, no other model,
    /// no fallback value.
    pub fn is_last(&self) -> bool {
        self.index >= self.maximum && !self.has_fallback
    }
}

pub(super) type CheckResult = Result<(), Invalid>;
/// Run at most once each: a check owns what its closure captured of the answer.
type SyncCheck<'a, S> = dyn FnOnce(&S, &AttemptInfo) -> CheckResult + Send + 'a;
type AsyncCheck<'a, S> =
    dyn FnOnce(&'a S, &'a AttemptInfo) -> BoxFuture<'a, CheckResult> + Send + 'a;

pub(super) enum Check<'a, S: ?Sized> {
    Sync(Box<SyncCheck<'a, S>>),
    Async(Box<AsyncCheck<'a, S>>),
}

/// Names of fields that differ: the Rust name, and the JSON name.
type FieldNames = &'static [(&'static str, &'static str)];

/// A validator that is to run, and where in the answer it was found.
pub(super) struct PendingCheck<'a, S: ?Sized> {
    pub(super) found_at: FoundAt,
    pub(super) check: Check<'a, S>,
}

pub(super) struct FoundAt {
    /// The path of the validated value, in JSON names: the model knows no others.
    pub(super) path: String,
    /// Lets the validator write its paths in Rust names.
    pub(super) names: FieldNames,
    /// The validator's name, for the message if it panics.
    pub(super) validator: &'static str,
}

/// Collects the checks of an answer and of everything inside it.
///
/// It is a cursor: `path` and `names` are those of the value that is being
/// traversed, and go back to those of the value around it when that one is left.
pub struct Checks<'a, S: ?Sized> {
    path: String,
    names: FieldNames,
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
    /// Begins below this path, for a value that is itself inside an answer.
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
        let found_at = FoundAt {
            path: self.path.clone(),
            names: self.names,
            validator,
        };
        self.list.push(PendingCheck { found_at, check });
    }
}

impl<S: ?Sized> fmt::Debug for Checks<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.list.iter().map(|pending| {
                let FoundAt {
                    path, validator, ..
                } = &pending.found_at;
                (path, validator)
            }))
            .finish()
    }
}

/// Appends `.name`, or `["name"]` for a key that would be read as more than one.
fn push_key(path: &mut String, name: &str) {
    if name.is_empty() || name.contains(separates_names) {
        path.push_str(&format!("[{name:?}]"));
    } else {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
    }
}

fn separates_names(c: char) -> bool {
    matches!(c, '.' | '[' | ']' | '"') || c.is_whitespace()
}

/// Returns the path in the answer of what a validator calls `below`, from its own type at `at` on.
///
/// The first name in `below` may be a Rust name, as validators are written in Rust;
/// it becomes the JSON name.
pub(super) fn join(at: &str, names: &[(&str, &str)], below: &str) -> String {
    let end = below.find(['.', '[']).unwrap_or(below.len());
    let (first, rest) = below.split_at(end);
    let renamed = names.iter().find(|(rust, _)| *rust == first);
    let first = match renamed {
        Some((_, json)) => *json,
        None => first,
    };
    let mut path = at.to_owned();
    if !first.is_empty() {
        push_key(&mut path, first);
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
