//! What the runtime needs from inside the reader. Not part of the public interface:
//! it may change in any release. What other programs can take, too, is in
//! [`ext`](crate::ext).

use std::sync::Arc;

pub use crate::check::target;
pub use crate::marks::{MARK, marks_of, schema_with_marks};
pub use crate::schema::Uncovered;
pub use crate::tree::{WRAPPER, is_annotation};

use crate::{Flag, OutputSchema, Repair};

/// The first marked type in the schema that a traversal misses. `traversal`, the
/// address of its function, is the key under which the result is kept.
pub fn uncovered(
    schema: &OutputSchema,
    traversal: usize,
    find: impl FnOnce(&[String]) -> Option<Uncovered>,
) -> Option<Arc<Uncovered>> {
    schema.uncovered(traversal, find)
}

/// What was done once, to the whole answer.
pub fn repair(flag: Flag) -> Repair {
    Repair {
        flag,
        place: String::new(),
        times: 1,
    }
}
