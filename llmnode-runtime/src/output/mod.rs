//! What a model may answer: the schema it is given, and the reading of its text.

// The attempt loop is the caller; until every part of it is there, some of this has none.
#[allow(dead_code)]
pub(crate) mod reader;
mod schema;

pub use schema::{OutputSchema, StrictError, StrictProblem};
