//! What a program with a loop of its own takes from the reader: one that asks
//! again, or runs an agent.
//!
//! Not needed to read an answer, which is [`Reader`](crate::Reader). It changes
//! more often than the rest of the crate. How a model is asked is in
//! [`ask`](crate::ask), calls that it wrote as text are in [`calls`](crate::calls).
//!
//! | to | take |
//! |---|---|
//! | read an answer, and keep what was repaired or all that is wrong | [`read`], [`read_json_of`] |
//! | read into a value whose type the loop does not know | [`read_slot`], a [`Slot`] |
//! | read by a schema that is known at run time only | [`check_by`] |
//! | divide a stream into thoughts and answer | [`Thoughts`]; of a whole text [`without_thoughts`] |
//! | read what a server sent, which may be made to fill the memory | [`small_tree`], [`has_many_values`] |
//! | write paths of violations as the model knows them | [`in_json_names`], [`has_list_at`] |
//!
//! A loop that is compiled once, and not for every type, reads through a [`Slot`].
//! An `Option` of any type is one:
//!
//! ```
//! use llmnode_reader::ext::{Slot, read_slot};
//! use llmnode_reader::{Flag, OutputSchema, Reader};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Label { name: String }
//!
//! /// Knows no type. Returns the complaints for the next question, or how often the answer had to be repaired.
//! fn read_turn(answer: &str, schema: &OutputSchema, to: &mut dyn Slot) -> Result<usize, Vec<String>> {
//!     match read_slot(answer, schema, Reader::default(), to) {
//!         Ok(parsed) => Ok(parsed.repairs.len()),
//!         Err(violations) => Err(violations.iter().map(ToString::to_string).collect()),
//!     }
//! }
//!
//! let schema = OutputSchema::of::<Label>();
//! let mut label = None::<Label>;
//! assert_eq!(read_turn(r#"{"name": "bug",}"#, &schema, &mut label), Ok(1));
//! assert_eq!(label.unwrap().name, "bug");
//! assert!(read_turn("no idea", &schema, &mut None::<Label>).is_err());
//! # let _ = Flag::Fenced;
//! ```

pub use crate::answer::{CheckJson, Parsed, ReadResult, check_by, read, read_json_of, read_slot};
pub use crate::find::{Spoken, Thoughts, without_thoughts};
pub use crate::many_values::{has_many_values, small_tree};
pub use crate::target::Slot;

use crate::OutputSchema;
use crate::check;

/// Replaces each name of a path that the schema does not have by the one with the
/// same letters, if there is only one.
///
/// serde names a field as the program does, `dueDate`; the model knows the name of
/// the schema. `wrapped`: the path begins with the member that wraps the value
/// ([`Parsed::wrapped`]).
pub fn in_json_names(path: String, schema: &OutputSchema, wrapped: bool) -> String {
    check::in_json_names(path, &schema.rules, wrapped)
}

/// Whether the value of the members with these names can be a list.
///
/// To say how long the list of an incomplete answer has become. A path that the
/// schema does not have is no list.
pub fn has_list_at(schema: &OutputSchema, path: &[String]) -> bool {
    schema.has_list_at(path)
}

/// Whether this JSON meets the schema.
///
/// Checks the schema alone, and repairs nothing; serde may still refuse the value,
/// for what no schema says.
pub fn is_met_by(schema: &OutputSchema, text: &str) -> bool {
    schema.is_met_by(text)
}
