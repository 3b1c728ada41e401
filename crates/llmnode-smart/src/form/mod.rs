//! Writes the messages of a node with a goal, and reads its answers.

mod answer;
mod chat;
mod dspy;
mod native;
mod python;
#[cfg(test)]
mod round_tests;
mod sections;
mod text;

pub(crate) use answer::{ReasoningSlot, SmartAnswerForm};
#[cfg(feature = "graph")]
pub(crate) use chat::{SectionReader, SectionValues};
pub(crate) use python::indented as indented_json;
pub(crate) use text::{clean_doc, prefix};

use llmnode_runtime::Message;
use serde_json::{Map, Value};

use crate::signature::{Demo, Field, Form, Signature};

const INCOMPLETE: &str =
    "This is an example of the task, though some input or output fields are not supplied.";

type Values = Map<String, Value>;

pub(crate) struct PromptParts<'a> {
    pub(crate) signature: &'a Signature,
    pub(crate) demos: &'a [Demo],
    pub(crate) inputs: &'a Map<String, Value>,
}

impl PromptParts<'_> {
    pub(crate) fn messages(&self) -> Vec<Message> {
        match self.signature.form {
            Form::Own => native::messages(self),
            Form::Chat => dspy::messages(self, dspy::Adapter::Chat),
            Form::Json => dspy::messages(self, dspy::Adapter::Json),
        }
    }

    /// The incomplete examples that have an input and an output; then the complete ones. Others are left out, as in
    /// DSPy.
    fn sorted_demos(&self) -> (Vec<&Values>, Vec<&Values>) {
        let Signature { inputs, outputs, .. } = self.signature;
        let lacks = |demo: &&Demo| {
            self.signature.fields().any(|field| demo.get(&field.name).is_none_or(Value::is_null))
        };
        let (incomplete, complete): (Vec<&Demo>, Vec<&Demo>) = self.demos.iter().partition(lacks);
        let has = |demo: &Demo, fields: &[Field]| fields.iter().any(|field| demo.get(&field.name).is_some());
        let shown =
            incomplete.into_iter().filter(|demo| has(demo, inputs) && has(demo, outputs)).map(Demo::values);
        (shown.collect(), complete.into_iter().map(Demo::values).collect())
    }
}
