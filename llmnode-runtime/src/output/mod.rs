//! Outputs: their schema, how an answer is read, and how it is checked.

mod check;
mod coerce;
mod reader;
mod reading;
mod schema;
mod spec;

pub(crate) use check::{ends, in_json_names, target, violations};
pub(crate) use reader::Json;
pub use reading::{ReadError, Reader, Reading};
pub use schema::{OutputSchema, StrictError};
pub(crate) use schema::{WRAPPER, is_annotation};
pub(crate) use spec::{Answer, Answers, Untyped, read, read_by_schema};
pub use spec::{LlmOutput, OutputSpec};
