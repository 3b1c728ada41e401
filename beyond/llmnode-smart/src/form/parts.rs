//! What a request is written from.

use serde_json::{Map, Value};

use crate::signature::{Demo, Field, Signature};

pub(super) const INCOMPLETE: &str =
    "This is an example of the task, though some input or output fields are not supplied.";

pub(super) type Values = Map<String, Value>;

pub(crate) struct PromptParts<'a> {
    pub(crate) signature: &'a Signature,
    pub(crate) demos: &'a [Demo],
    pub(crate) inputs: &'a Map<String, Value>,
}

impl PromptParts<'_> {
    /// Incomplete ones first, if they have an input and an output. DSPy leaves out others.
    pub(super) fn sorted_demos(&self) -> (Vec<&Values>, Vec<&Values>) {
        let Signature {
            inputs, outputs, ..
        } = self.signature;
        let (incomplete, complete): (Vec<&Demo>, Vec<&Demo>) =
            self.demos.iter().partition(|demo: &&Demo| {
                self.signature
                    .fields()
                    .any(|field| demo.get(&field.name).is_none_or(Value::is_null))
            });
        let shown = incomplete
            .into_iter()
            .filter(|demo| has_any(demo, inputs) && has_any(demo, outputs))
            .map(Demo::values);
        (
            shown.collect(),
            complete.into_iter().map(Demo::values).collect(),
        )
    }
}

fn has_any(demo: &Demo, fields: &[Field]) -> bool {
    fields.iter().any(|field| demo.get(&field.name).is_some())
}
