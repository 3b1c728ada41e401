//! What the crates of llmnode need from inside the reader. Not part of the public interface: it may change in any release.

use std::sync::Arc;

pub use crate::answer::{CheckJson, Parsed, ReadResult, check_by, read, read_json_of, read_slot};
pub use crate::calls::{InText, Shown, WrittenCall, attempted, written_calls};
pub use crate::check::target;
pub use crate::find::{Spoken, Thoughts, without_thoughts};
pub use crate::many_values::{has_many_values, small_tree};
pub use crate::marks::{MARK, marks_of, schema_with_marks};
pub use crate::renamer::{Names, Renamer};
pub use crate::schema::Uncovered;
pub use crate::target::Slot;
pub use crate::tree::{WRAPPER, is_annotation};

use crate::check;
use crate::{Flag, OutputSchema, Repair};

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

/// What was done once, to the whole answer.
pub fn repair(flag: Flag) -> Repair {
    Repair {
        flag,
        place: String::new(),
        times: 1,
    }
}
