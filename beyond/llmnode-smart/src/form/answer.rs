//! Reads answers: as JSON, with the reasoning or without, or in sections.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use llmnode_reader::ext::{Parsed, ReadResult};
use llmnode_runtime::internal::AnswerForm;
use llmnode_runtime::{OutputSchema, Reader, Violation};
use serde_json::Value;

use super::chat::{SectionReader, SectionValues};
use crate::signature::{Form, OutputCodec, ReasoningCodec, Signature, Smart};

#[derive(Clone, Default)]
pub(crate) struct ReasoningSlot(Arc<Mutex<Option<String>>>);

impl ReasoningSlot {
    pub(crate) fn set(&self, reasoning: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = reasoning;
    }

    pub(crate) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

pub(crate) struct SmartAnswerForm {
    codec: OutputCodec,
    sections: Option<SectionReader>,
    described: Vec<(String, String)>,
    reasoned: ReasoningSlot,
}

impl SmartAnswerForm {
    /// `signature`: of the node, or of a program for it.
    pub(crate) fn new<N: Smart>(signature: &Signature, reasoned: &ReasoningSlot) -> Self {
        let declared = N::declared();
        let fields = signature.outputs.iter().filter(|field| {
            declared
                .signature
                .output(&field.name)
                .is_some_and(|declared| declared.description != field.description)
        });
        SmartAnswerForm {
            codec: declared.output,
            sections: (signature.form == Form::Chat).then(|| SectionReader::of(signature)),
            described: fields
                .map(|field| (field.name.clone(), field.description.clone()))
                .collect(),
            reasoned: reasoned.clone(),
        }
    }

    fn read_any(&self, answer: &str, reader: Reader) -> ReadResult<Box<dyn Any>> {
        match (&self.sections, self.codec.thinking) {
            (Some(fields), _) => self.read_sections(fields, answer, reader),
            (None, Some(ReasoningCodec { read, .. })) => {
                let Parsed {
                    value: (reasoning, value),
                    repairs,
                    wrapped,
                } = read(answer, reader)?;
                self.reasoned.set(Some(reasoning));
                Ok(Parsed {
                    value,
                    repairs,
                    wrapped,
                })
            }
            (None, None) => (self.codec.read)(answer, reader),
        }
    }

    fn read_sections(
        &self,
        fields: &SectionReader,
        answer: &str,
        reader: Reader,
    ) -> ReadResult<Box<dyn Any>> {
        let Some(SectionValues {
            reasoning,
            json,
            missing,
        }) = fields.gather(answer, reader)
        else {
            // Some models answer with JSON although sections were asked for.
            let as_json = SmartAnswerForm {
                sections: None,
                described: Vec::new(),
                codec: self.codec,
                reasoned: self.reasoned.clone(),
            };
            return as_json
                .read_any(answer, reader)
                .map_err(|_| fields.all_missing());
        };
        match (self.codec.read)(&json.to_string(), reader) {
            Ok(answer) if missing.is_empty() => {
                self.reasoned.set(reasoning);
                Ok(answer)
            }
            Ok(_) => Err(missing),
            Err(found) => {
                let others: Vec<_> = found
                    .into_iter()
                    .filter(|one: &Violation| {
                        !missing
                            .iter()
                            .any(|field| one.message.contains(&format!("`{}`", field.path)))
                    })
                    .collect();
                Err(missing.into_iter().chain(others).collect())
            }
        }
    }
}

impl<T: 'static> AnswerForm<T> for SmartAnswerForm {
    fn schema(&self) -> Arc<OutputSchema> {
        self.codec
            .thinking
            .map_or_else(self.codec.schema, |thinking| (thinking.schema)())
    }

    fn sent(&self) -> Option<Arc<OutputSchema>> {
        if self.sections.is_some() {
            return None;
        }
        let schema = <Self as AnswerForm<T>>::schema(self);
        Some(described(&schema, &self.described).map_or(schema, Arc::new))
    }

    fn read(&self, answer: &str, reader: Reader) -> ReadResult<T> {
        let Parsed {
            value,
            repairs,
            wrapped,
        } = self.read_any(answer, reader)?;
        match value.downcast::<T>() {
            Ok(value) => Ok(Parsed {
                value: *value,
                repairs,
                wrapped,
            }),
            Err(_) => Err(vec![Violation::new("", "no value was read")]),
        }
    }
}

/// `None`: no descriptions were changed.
fn described(schema: &OutputSchema, descriptions: &[(String, String)]) -> Option<OutputSchema> {
    let mut plain: Value = (!descriptions.is_empty())
        .then(|| serde_json::from_str(schema.plain().get()).ok())
        .flatten()?;
    for (name, description) in descriptions {
        let member = plain
            .get_mut("properties")
            .and_then(|members| members.get_mut(name));
        if let Some(member) = member.and_then(Value::as_object_mut) {
            member.insert("description".to_owned(), description.as_str().into());
        }
    }
    Some(OutputSchema::from_value(schema.name(), plain))
}
