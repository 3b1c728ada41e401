//! The signature of a node with a goal: its fields, with descriptions and types.

mod declared;
mod demo;
mod fault;
mod field;
mod reasoning;
mod values;

#[cfg(any(test, feature = "graph"))]
pub(crate) use declared::reasoning;
pub(crate) use declared::{OutputCodec, ReasoningCodec};
pub use declared::{SignatureBuilder, SmartInput, SmartOutput, TypedSignature};
pub use demo::Demo;
pub use fault::FieldFaults;
pub use field::Field;
pub(crate) use field::without_annotations;
pub use values::{InputReader, InputWriter, output_values, read_output};

use llmnode_runtime::Node;
use serde_json::{Map, Value};

pub(crate) const REASONING: &str = "reasoning";
/// The only output field if the output is not an object.
pub(crate) const VALUE: &str = "value";

/// How a node's messages are written, and how its answers are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// llmnode's own: the goal as system message, the fields as sections, the answer as JSON.
    #[default]
    Own,
    /// The form of DSPy's `ChatAdapter`: each field below a line `[[ ## name ## ]]`, in the answer too.
    Chat,
    /// The form of DSPy's `JSONAdapter`: the same, but the answer is a JSON object.
    Json,
}

/// The inputs and outputs of a node with a goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    pub(crate) goal: String,
    pub(crate) inputs: Vec<Field>,
    pub(crate) outputs: Vec<Field>,
    pub(crate) thinks: bool,
    pub(crate) form: Form,
    /// The output is an object with these fields as members.
    pub(crate) object: bool,
    pub(crate) text: bool,
}

impl Signature {
    /// Returns the goal of the node.
    pub fn goal(&self) -> &str {
        &self.goal
    }

    /// Returns the input fields.
    pub fn inputs(&self) -> &[Field] {
        &self.inputs
    }

    /// Returns the output fields. `reasoning` is the first one if the node [thinks](Signature::thinks).
    pub fn outputs(&self) -> &[Field] {
        &self.outputs
    }

    /// Returns the input of this name.
    pub fn input(&self, name: &str) -> Option<&Field> {
        self.inputs.iter().find(|field| field.name == name)
    }

    /// Returns the output of this name.
    pub fn output(&self, name: &str) -> Option<&Field> {
        self.outputs.iter().find(|field| field.name == name)
    }

    /// Returns whether the model writes its reasoning before the output.
    pub fn thinks(&self) -> bool {
        self.thinks
    }

    /// Returns how messages are written and answers are read.
    pub fn form(&self) -> Form {
        self.form
    }

    pub(crate) fn fields(&self) -> impl Iterator<Item = &Field> {
        self.inputs.iter().chain(&self.outputs)
    }

    pub(crate) fn doubled(&self) -> Option<String> {
        let names = self.names();
        let doubled = names
            .iter()
            .enumerate()
            .find(|(index, name)| names[..*index].contains(name))?
            .1;
        Some(if self.thinks && *doubled == REASONING {
            format!(
                "the output has a member `{REASONING}`, and `think` adds one; rename it, or drop `think`"
            )
        } else {
            format!(
                "`{doubled}` is an input and an output, and an example could not hold both; rename one of them"
            )
        })
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.fields().map(Field::name).collect()
    }
}

/// A node with a goal: what `#[llm_node(goal = "..")]` makes of a struct.
///
/// Its fields are the inputs, their doc comments what the model reads about them. The members of its output are the outputs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no goal",
    label = "not a node with a `goal`",
    note = "write `#[llm_node(goal = \"..\")]` on the struct, in place of a prompt"
)]
pub trait Smart: Node<Output: 'static> + Sized + Send + Sync + 'static {
    /// Returns the inputs and outputs of the node.
    fn signature() -> &'static Signature {
        &Self::declared().signature
    }

    /// Returns the inputs of this node by name, in the order of the fields.
    ///
    /// # Errors
    /// The inputs that cannot be written as JSON.
    fn values(&self) -> Result<Map<String, Value>, FieldFaults>;

    /// Creates a node from inputs. Other members are ignored.
    ///
    /// # Errors
    /// Every input that is missing or of another type.
    fn read(values: &Map<String, Value>) -> Result<Self, FieldFaults>;

    /// What the macro declared.
    #[doc(hidden)]
    fn declared() -> &'static TypedSignature;
}
