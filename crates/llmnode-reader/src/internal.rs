//! What the crates of llmnode need from inside the reader. Not part of the public interface: it may change in any release.

use std::fmt::Display;
use std::sync::Arc;

pub use crate::answer::{Answer, CheckJson, ReadResult, check_by, read, read_into, read_json_of};
pub use crate::check::target;
pub use crate::marks::{MARK, marks_in};
pub use crate::schema::Uncovered;
pub use crate::text::{
    bounded_regex, floor_char_boundary, misspelling_of, nearest, one_line, one_line_shortened, plural,
    same_name, write_joined,
};
pub use crate::tree::{WRAPPER, is_annotation};

use crate::check;
use crate::{Flag, Note, OutputSchema, StrictError, Violation};

/// Why no answer can ever be of this type.
pub fn unanswerable(schema: &OutputSchema) -> Option<&str> {
    schema.unanswerable.as_deref()
}

/// The first marked type in the schema that a traversal misses. `traversal`, the address of its function, is the key under
/// which the result is kept.
pub fn uncovered(
    schema: &OutputSchema,
    traversal: usize,
    find: impl FnOnce(&[String]) -> Option<Uncovered>,
) -> Option<Arc<Uncovered>> {
    schema.uncovered(traversal, find)
}

/// Replaces each name of the path that the schema does not have by the one with the same letters, if there is only one.
/// `wrapped`: the path begins with the member that wraps the value.
pub fn in_json_names(path: String, schema: &OutputSchema, wrapped: bool) -> String {
    check::in_json_names(path, &schema.rules, wrapped)
}

/// Whether the value of the members with these names can be a list.
pub fn has_list_at(schema: &OutputSchema, path: &[String]) -> bool {
    schema.has_list_at(path)
}

/// Checks the schema only; serde may still refuse the value.
pub fn is_met_by(schema: &OutputSchema, text: &str) -> bool {
    schema.is_met_by(text)
}

/// Why strict mode cannot express it, for a log; `None` from the second time on.
pub fn take_strict_error(schema: &OutputSchema) -> Option<&StrictError> {
    schema.take_strict_error()
}

/// The error with its remedy, for a response format that the program chose.
pub fn with_remedy(error: &StrictError) -> String {
    error.with_remedy()
}

/// What the model is asked to do about it; empty if that is obvious.
pub fn remedy(violation: &Violation) -> &str {
    &violation.remedy
}

/// The violation on one line of about a kilobyte.
pub fn shortened(violation: Violation) -> Violation {
    violation.shortened()
}

/// What was done once, to the whole answer.
pub fn note(flag: Flag) -> Note {
    Note { flag, place: String::new(), times: 1 }
}

/// Lists the allowed values, the first hundred of them.
pub fn list_allowed(violation: &mut Violation, values: impl IntoIterator<Item = impl Display>) {
    violation.list_allowed(values.into_iter().map(|value| value.to_string()));
}
