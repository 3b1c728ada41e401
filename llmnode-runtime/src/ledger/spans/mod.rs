//! Spans of `tracing`: one for each call of a node, one for each attempt in it.
//!
//! Without a subscriber, each costs one atomic load; nothing is built or formatted.

mod attempt;
mod call;
mod content;
mod names;
mod tool;

pub(crate) use attempt::{AttemptSpan, RequestInfo};
pub(crate) use call::CallSpan;
pub(crate) use tool::ToolSpan;
