//! What can stand in a prompt: what a list and an attachment of the program's own implement.

mod at;
mod attach;
mod displayed;
mod fence;
mod history;
mod place;
#[expect(clippy::module_inception, reason = "the file holds `Prompt`")]
mod prompt;
mod segment;
mod values;

pub use attach::{Attachments, PromptAttachment};
pub use history::History;
pub(crate) use place::Place;
pub use values::PromptList;

/// What only generated code names.
pub(crate) mod generated {
    pub use super::at::{Column, Line, PromptAt, prompt_at, prompt_file_at};
    pub use super::displayed::{Displayed, PromptText, ShowNothing, ShowValue, Shown};
    pub use super::fence::PromptFence;
    pub use super::history::PromptHistory;
    pub use super::prompt::Prompt;
    pub use super::segment::Segment;
    pub use super::values::{PromptJson, PromptOption, PromptValue};
}
