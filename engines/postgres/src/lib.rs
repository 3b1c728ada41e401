//! What the examples have in common: a journal in a table, and the flow that they run.

mod journal;
mod support;

pub use journal::TableJournal;
pub use support::{Order, Support};
