//! From the fields of a node to the messages of its request.
//!
//! The macro has cut the prompt into [`generated::Segment`]s: literal texts, and
//! values with the way in which each is written (`{a}`, `{a:list}`, `{a:json}`,
//! `{a:fence}`, ..). Messages come out, or a sentence on what cannot be sent. In
//! this order:
//!
//! 1. Instructions, then examples, then the history, then the prompt itself: what
//!    stays the same from call to call stands first, so that providers find it in
//!    their caches. `prompt.rs` notes where each of these parts ends.
//! 2. Each message is written in two passes over its segments: one that counts
//!    bytes, and one that writes into a text of exactly that size. A value is
//!    inserted once and never read again as a template, so nothing in it can act as
//!    one.
//! 3. Attachments are not text: they are collected while their message is written,
//!    and the sum of their sizes is checked at the end.
//!
//! There is one trait for each way to write a value (`values.rs`, `fence.rs`,
//! `attach.rs`, `history.rs`), so that the compiler says what is wrong with *this*
//! variable. `display_probe.rs` and `state_path.rs` only serve such messages.
//!
//! The room knows nothing of requests, models or schemas. What a form of answers
//! adds to a prompt is added by `run/`.

mod attach;
mod display_probe;
mod fence;
mod history;
#[expect(clippy::module_inception, reason = "the file holds `Prompt`")]
mod prompt;
mod section;
mod segment;
mod state_path;
mod values;

pub use attach::{Attachments, PromptAttachment};
pub(crate) use fence::fenced;
pub use history::History;
pub(crate) use prompt::EarlyValue;
pub(crate) use section::Section;
pub use values::PromptList;

pub(crate) mod generated {
    pub use super::display_probe::{
        DisplayProbe, PromptText, SegmentProbe, ShowNothing, ShowValue,
    };
    pub use super::fence::PromptFence;
    pub use super::history::PromptHistory;
    pub use super::prompt::Prompt;
    pub use super::segment::Segment;
    pub use super::state_path::{Column, Line, PromptAt, prompt_at, prompt_file_at};
    pub use super::values::{PromptJson, PromptOption, PromptValue};
}
