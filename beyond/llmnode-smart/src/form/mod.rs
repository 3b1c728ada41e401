//! Writes the messages of a node with a goal, and reads its answers.

mod answer;
mod chat;
mod dspy;
mod native;
mod parts;
mod python;
#[cfg(test)]
mod round_tests;
mod sections;
mod text;

pub(crate) use answer::{ReasoningSlot, SmartAnswerForm};
#[cfg(feature = "graph")]
pub(crate) use chat::{SectionReader, SectionValues};
pub(crate) use parts::PromptParts;
pub(crate) use python::indented as indented_json;
pub(crate) use text::{clean_doc, prefix};

use llmnode_runtime::Message;

use crate::signature::Form;

impl PromptParts<'_> {
    pub(crate) fn messages(&self) -> Vec<Message> {
        match self.signature.form {
            Form::Own => native::messages(self),
            Form::Chat => dspy::messages(self, dspy::Adapter::Chat),
            Form::Json => dspy::messages(self, dspy::Adapter::Json),
        }
    }
}
