//! What a prompt may contain, and the traits that lists and attachments of the program implement.

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
pub use history::History;
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
