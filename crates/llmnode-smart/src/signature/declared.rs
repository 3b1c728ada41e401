//! A signature as the macro writes it down.

use std::any::Any;

use llmnode_runtime::LlmOutput;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::field::{Field, members, schema_of};
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

/// A signature, and how the values of its inputs are written and read.
pub struct Declared {
    pub(crate) signature: Signature,
    pub(crate) codecs: Vec<Codec>,
}

/// How values of an input's type are written and read.
#[derive(Clone, Copy)]
pub(crate) struct Codec {
    pub(crate) write: fn(&dyn Any) -> Result<Value, String>,
    pub(crate) read: fn(&Value) -> Result<Box<dyn Any>, String>,
}

impl Codec {
    fn of<T: SmartInput>() -> Self {
        Codec {
            write: |value| match value.downcast_ref::<T>() {
                Some(value) => serde_json::to_value(value).map_err(|error| format!("cannot be written as JSON: {error}")),
                None => Err("is of another type".to_owned()),
            },
            read: |value| match T::deserialize(value) {
                Ok(value) => Ok(Box::new(value)),
                Err(error) => Err(error.to_string()),
            },
        }
    }
}

/// Writes a signature down, field by field.
pub struct Declaring(Declared);

impl Declaring {
    /// Begins with the goal and the output.
    pub fn new<O: LlmOutput>(goal: &str, thinks: bool, form: Form, text: bool) -> Self {
        let schema = schema_of::<O>();
        let fields = members(&schema);
        let object = fields.is_some();
        let mut outputs = fields.unwrap_or_else(|| vec![value(schema)]);
        if thinks {
            outputs.insert(0, reasoning());
        }
        let signature = Signature {
            goal: goal.to_owned(),
            inputs: Vec::new(),
            outputs,
            thinks,
            form,
            output: O::schema_name().into_owned(),
            object,
            text: text && !thinks && form == Form::Default,
        };
        Declaring(Declared { signature, codecs: Vec::new() })
    }

    /// Adds an input.
    pub fn input<T: SmartInput>(mut self, name: &str, description: &str) -> Self {
        self.0.signature.inputs.push(Field::new(name, description, untitled(schema_of::<T>())));
        self.0.codecs.push(Codec::of::<T>());
        self
    }

    /// The whole.
    pub fn done(self) -> Declared {
        self.0
    }
}

pub(crate) fn reasoning() -> Field {
    Field::new(REASONING, "", serde_json::json!({"type": "string"}))
}

fn value(schema: Value) -> Field {
    Field::new(VALUE, "", untitled(schema))
}

/// A scalar's title is the name of a Rust type, which says nothing to a model; that of an object is its name.
fn untitled(mut schema: Value) -> Value {
    if let Some(members) = schema.as_object_mut()
        && !members.contains_key("properties")
    {
        members.remove("title");
        members.remove("description");
    }
    schema
}
