//! Outputs: their schema, how an answer is read, and how it is checked.

mod reader;
mod reading;
mod schema;
mod spec;

pub use reading::{ReadError, Reader, Reading};
pub(crate) use schema::marks_in;
pub use schema::{OutputSchema, StrictError, StrictProblem};
pub(crate) use spec::{Answer, Answers, Read, Untyped, read};
pub use spec::{LlmOutput, OutputSpec};
