//! How answers are read: as JSON, with the reasoning or without, or in sections.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use llmnode_runtime::internal::{Answer, AnswerForm, Read};
use llmnode_runtime::{LlmOutput, OutputSchema, Reader, Reading};

use super::chat::Sections;
use super::thinking::{Apart, Around, Beside, Of};
use crate::signature::{Form, Signature, Smart};

/// The reasoning that came with the answer read last.
#[derive(Clone, Default)]
pub(crate) struct Reasoned(Arc<Mutex<Option<String>>>);

impl Reasoned {
    pub(crate) fn set(&self, reasoning: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = reasoning;
    }

    pub(crate) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// How the answers to a signature are read. `None`: as those of any node.
pub(crate) fn answer_form<N: Smart>(signature: &Signature, reasoned: &Reasoned) -> Option<Box<dyn AnswerForm<N::Output>>> {
    let reasoned = reasoned.clone();
    let described = described(signature, N::signature());
    match (signature.form, signature.thinks, signature.object) {
        (Form::Chat, ..) => Some(Box::new(Sections::<N::Output>::new(signature, reasoned))),
        (_, true, true) => Some(Box::new(Thinking::<Beside<N::Output>> { described, reasoned, of: PhantomData })),
        (_, true, false) => Some(Box::new(Thinking::<Around<N::Output>> { described, reasoned, of: PhantomData })),
        (Form::Json, false, _) if N::signature().text => Some(Box::new(Plain { described })),
        (_, false, _) if described.is_empty() => None,
        (_, false, _) => Some(Box::new(Plain { described })),
    }
}

/// Descriptions of outputs that are not those of the type.
pub(super) type Described = Vec<(String, String)>;

fn described(signature: &Signature, declared: &Signature) -> Described {
    let other = |name: &str, description: &str| declared.output(name).is_some_and(|field| field.description != description);
    let fields = signature.outputs.iter().filter(|field| other(&field.name, &field.description));
    fields.map(|field| (field.name.clone(), field.description.clone())).collect()
}

/// The schema to send: that of the type, with these descriptions.
pub(super) fn schema_with(schema: Arc<OutputSchema>, described: &Described) -> Arc<OutputSchema> {
    let Some(mut plain) = (!described.is_empty()).then(|| serde_json::from_str::<serde_json::Value>(schema.plain().get()).ok()).flatten() else {
        return schema;
    };
    for (name, description) in described {
        let member = plain.get_mut("properties").and_then(|members| members.get_mut(name));
        if let Some(member) = member.and_then(serde_json::Value::as_object_mut) {
            member.insert("description".to_owned(), description.as_str().into());
        }
    }
    Arc::new(OutputSchema::from_value(schema.name(), plain))
}

/// JSON of the type.
struct Plain {
    described: Described,
}

impl<T: LlmOutput> AnswerForm<T> for Plain {
    fn schema(&self) -> Option<Arc<OutputSchema>> {
        Some(schema_with(OutputSchema::of::<T>(), &self.described))
    }

    fn read(&self, answer: &str, reader: Reader) -> Read<T> {
        let Reading { value, notes, .. } = reader.read(answer).map_err(|error| error.violations().to_vec())?;
        Ok(Answer { value, notes, wrapped: OutputSchema::of::<T>().is_wrapped() })
    }
}

/// JSON with the reasoning first.
struct Thinking<A> {
    described: Described,
    reasoned: Reasoned,
    of: Of<A>,
}

impl<T, A: LlmOutput + Apart<T>> AnswerForm<T> for Thinking<A> {
    fn schema(&self) -> Option<Arc<OutputSchema>> {
        Some(schema_with(OutputSchema::of::<A>(), &self.described))
    }

    fn read(&self, answer: &str, reader: Reader) -> Read<T> {
        let Reading { value, notes, .. } = reader.read::<A>(answer).map_err(|error| error.violations().to_vec())?;
        let (reasoning, value) = value.apart();
        self.reasoned.set(Some(reasoning));
        Ok(Answer { value, notes, wrapped: A::WRAPS })
    }
}

