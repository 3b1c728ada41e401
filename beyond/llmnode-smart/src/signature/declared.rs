//! Signatures as the macro builds them.

use std::any::Any;
use std::sync::Arc;

use llmnode_reader::ext::{Parsed, ReadResult};
use llmnode_runtime::{LlmOutput, OutputSchema, Reader, Reading, Violation};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::field::{Field, members, schema_of};
use super::reasoning::{ReasonedObject, ReasonedValue};
use super::{Form, REASONING, Signature, VALUE};

/// A type that the field of a node with a goal can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an input of a node with `goal`",
    label = "lacks `Serialize`, `Deserialize` or `JsonSchema`",
    note = "put `#[llm_output]` on its definition, or derive `serde::Serialize`, `serde::Deserialize` and `schemars::JsonSchema`; write `String` in place of `&str`"
)]
pub trait SmartInput: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static> SmartInput for T {}

/// A type that the output of a node with a goal can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a node with `goal`",
    label = "lacks `Serialize`, `Deserialize` or `JsonSchema`",
    note = "put `#[llm_output]` on its definition, or derive `serde::Serialize`, `serde::Deserialize` and `schemars::JsonSchema`"
)]
pub trait SmartOutput: LlmOutput + Serialize {}

#[diagnostic::do_not_recommend]
impl<T: LlmOutput + Serialize> SmartOutput for T {}

/// A signature, and how the values of its fields are written and read.
pub struct TypedSignature {
    pub(crate) signature: Signature,
    pub(crate) inputs: Vec<InputCodec>,
    pub(crate) output: OutputCodec,
}

#[derive(Clone, Copy)]
pub(crate) struct InputCodec {
    pub(crate) write: WriteFn,
    pub(crate) read: fn(&Value) -> Result<Box<dyn Any>, String>,
}

/// The boxed value has the type that the codec was made for.
#[derive(Clone, Copy)]
pub(crate) struct OutputCodec {
    pub(crate) write: WriteFn,
    pub(crate) schema: fn() -> Arc<OutputSchema>,
    pub(crate) read: fn(&str, Reader) -> ReadResult<Box<dyn Any>>,
    /// Set if the node reasons before its output.
    pub(crate) thinking: Option<ReasoningCodec>,
}

#[derive(Clone, Copy)]
pub(crate) struct ReasoningCodec {
    pub(crate) schema: fn() -> Arc<OutputSchema>,
    pub(crate) read: fn(&str, Reader) -> ReadResult<ReasonedOutput>,
}

type ReasonedOutput = (String, Box<dyn Any>);
type WriteFn = fn(&dyn Any) -> Result<Value, String>;

fn write<T: Serialize + 'static>(value: &dyn Any) -> Result<Value, String> {
    match value.downcast_ref::<T>() {
        Some(value) => serde_json::to_value(value)
            .map_err(|error| format!("cannot be written as JSON: {error}")),
        None => Err("is of another type".to_owned()),
    }
}

fn read<T: LlmOutput>(text: &str, reader: Reader) -> ReadResult<T> {
    let Reading { value, repairs, .. } = reader
        .read::<T>(text)
        .map_err(|error| error.violations().to_vec())?;
    Ok(Parsed {
        value,
        repairs,
        wrapped: OutputSchema::of::<T>().is_wrapped(),
    })
}

impl InputCodec {
    fn of<T: SmartInput>() -> Self {
        InputCodec {
            write: write::<T>,
            read: |value| match T::deserialize(value) {
                Ok(value) => Ok(Box::new(value)),
                Err(error) => Err(error.to_string()),
            },
        }
    }
}

fn read_any<T: SmartOutput>(
    text: &str,
    reader: Reader,
) -> Result<Parsed<Box<dyn Any>>, Vec<Violation>> {
    let Parsed {
        value,
        repairs,
        wrapped,
    } = read::<T>(text, reader)?;
    let value: Box<dyn Any> = Box::new(value);
    Ok(Parsed {
        value,
        repairs,
        wrapped,
    })
}

impl OutputCodec {
    fn of<T: SmartOutput>() -> Self {
        OutputCodec {
            write: write::<T>,
            schema: OutputSchema::of::<T>,
            read: read_any::<T>,
            thinking: None,
        }
    }

    fn thinking<T: SmartOutput>(object: bool) -> Self {
        let beside: fn(&str, Reader) -> _ = |text, reader| {
            let Parsed {
                value: ReasonedObject { reasoning, value },
                repairs,
                ..
            } = read::<ReasonedObject<T>>(text, reader)?;
            let value: Box<dyn Any> = Box::new(value);
            Ok(Parsed {
                value: (reasoning, value),
                repairs,
                wrapped: false,
            })
        };
        let around: fn(&str, Reader) -> _ = |text, reader| {
            let Parsed {
                value: ReasonedValue { reasoning, value },
                repairs,
                ..
            } = read::<ReasonedValue<T>>(text, reader)?;
            let value: Box<dyn Any> = Box::new(value);
            Ok(Parsed {
                value: (reasoning, value),
                repairs,
                wrapped: true,
            })
        };
        let thinking = if object {
            ReasoningCodec {
                schema: OutputSchema::of::<ReasonedObject<T>>,
                read: beside,
            }
        } else {
            ReasoningCodec {
                schema: OutputSchema::of::<ReasonedValue<T>>,
                read: around,
            }
        };
        OutputCodec {
            thinking: Some(thinking),
            ..OutputCodec::of::<T>()
        }
    }
}

/// Builds a signature, field by field.
pub struct SignatureBuilder(TypedSignature);

impl SignatureBuilder {
    /// Begins with the goal and the output. `text`: the answer is raw text.
    pub fn new<O: SmartOutput>(goal: &str, form: Form, text: bool) -> Self {
        let schema = schema_of::<O>();
        let fields = members(&schema);
        let signature = Signature {
            goal: goal.to_owned(),
            inputs: Vec::new(),
            object: fields.is_some(),
            outputs: fields.unwrap_or_else(|| vec![value(schema)]),
            thinks: false,
            form,
            text: text && form == Form::Own,
        };
        SignatureBuilder(TypedSignature {
            signature,
            inputs: Vec::new(),
            output: OutputCodec::of::<O>(),
        })
    }

    /// The same, with the reasoning before the output.
    pub fn thinking<O: SmartOutput>(goal: &str, form: Form) -> Self {
        let SignatureBuilder(TypedSignature {
            mut signature,
            inputs,
            ..
        }) = SignatureBuilder::new::<O>(goal, form, false);
        signature.thinks = true;
        signature.outputs.insert(0, reasoning());
        let output = OutputCodec::thinking::<O>(signature.object);
        SignatureBuilder(TypedSignature {
            signature,
            inputs,
            output,
        })
    }

    /// Adds an input.
    pub fn input<T: SmartInput>(mut self, name: &str, description: &str) -> Self {
        self.0
            .signature
            .inputs
            .push(Field::new(name, description, untitled(schema_of::<T>())));
        self.0.inputs.push(InputCodec::of::<T>());
        self
    }

    /// Returns the signature.
    pub fn done(self) -> TypedSignature {
        self.0
    }
}

pub(crate) fn reasoning() -> Field {
    Field::new(REASONING, "", serde_json::json!({"type": "string"}))
}

fn value(schema: Value) -> Field {
    Field::new(VALUE, "", untitled(schema))
}

/// A scalar's title is the name of a Rust type, which means nothing to a model; an object's title is its name.
fn untitled(mut schema: Value) -> Value {
    if let Some(members) = schema.as_object_mut()
        && !members.contains_key("properties")
    {
        members.retain(|keyword, _| !matches!(keyword.as_str(), "title" | "description"));
    }
    schema
}
