//! Spans for whoever subscribes to `tracing`: one for each call of a node, one for each attempt within.
//!
//! Without a subscriber they cost a look at an atomic each, and nothing is made or formatted.

mod attempt;
mod call;
mod content;
mod names;

pub(crate) use attempt::{AttemptSpan, RequestInfo};
pub(crate) use call::CallSpan;
