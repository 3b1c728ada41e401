//! Examples of a node: pairs of what is asked and what is to be answered, sent before the prompt.

use std::borrow::Cow;
use std::fmt;

use llmnode_model::Message;
use llmnode_reader::{OutputSchema, Reader};
use serde::Serialize;

use super::llm_node::LlmNode;
use crate::node::Node;
use crate::output::OutputSpec;
use crate::prompt::Section;
use crate::prompt::generated::Prompt;
use crate::text::impl_debug;

/// An example of a node: what it is asked, and what the model is to answer.
pub struct Example<N: Node> {
    /// What is asked.
    pub input: Input<N>,
    /// What the model is to answer.
    pub output: N::Output,
}

/// What an example asks.
pub enum Input<N> {
    /// What this node asks.
    Node(N),
    /// The text of a user message, as it is.
    Text(Cow<'static, str>),
}

impl<N: Node> Example<N> {
    /// An example. The input is a value of the node, whose own prompt is rendered
    /// with the state of the call, or the text of a user message.
    pub fn new(input: impl ExampleInput<N>, output: N::Output) -> Self {
        Example {
            input: input.into_input(),
            output,
        }
    }

    /// What generated code puts into [`input`](Example::input).
    #[doc(hidden)]
    pub fn asking(input: impl ExampleInput<N>) -> Input<N> {
        input.into_input()
    }
}

/// What the input of an example can be made of: a value of the node, or a text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the input of an example of `{N}`",
    label = "neither `{N}` nor a text",
    note = "the input of an example is a value of the node itself, such as `Self {{ .. }}`, or the text of a user message"
)]
pub trait ExampleInput<N> {
    /// Makes it.
    fn into_input(self) -> Input<N>;
}

#[diagnostic::do_not_recommend]
impl<N: Node> ExampleInput<N> for N {
    fn into_input(self) -> Input<N> {
        Input::Node(self)
    }
}

#[diagnostic::do_not_recommend]
impl<N: Node> ExampleInput<N> for &'static str {
    fn into_input(self) -> Input<N> {
        Input::Text(Cow::Borrowed(self))
    }
}

#[diagnostic::do_not_recommend]
impl<N: Node> ExampleInput<N> for String {
    fn into_input(self) -> Input<N> {
        Input::Text(Cow::Owned(self))
    }
}

/// An output that examples can show: anything that serializes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of an example",
    label = "has no `Serialize`",
    note = "an example shows the answer as JSON: put `#[llm_output]` on its definition, or derive `serde::Serialize`"
)]
pub trait ExampleOutput: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> ExampleOutput for T {}

/// What a node without `output` answers in an example: any text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of an example of a node that answers with text",
    label = "no text",
    note = "write a text, or name the type of the answer by `output = ..`"
)]
pub trait ExampleText {
    /// Makes it the answer.
    fn into_text(self) -> String;
}

#[diagnostic::do_not_recommend]
impl<T: Into<String>> ExampleText for T {
    fn into_text(self) -> String {
        self.into()
    }
}

/// What a function that `examples = path` names returns many of: an [`Example`], or
/// a pair of input and output.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an example of `{N}`",
    label = "not a pair of input and output",
    note = "an example is a pair of an input, which is a value of the node or the text of a user message, and an output"
)]
pub trait IntoExample<N: Node> {
    /// Makes it.
    fn into_example(self) -> Example<N>;
}

#[diagnostic::do_not_recommend]
impl<N: Node> IntoExample<N> for Example<N> {
    fn into_example(self) -> Example<N> {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<N: Node, I: ExampleInput<N>, O: Into<N::Output>> IntoExample<N> for (I, O) {
    fn into_example(self) -> Example<N> {
        Example::new(self.0, self.1.into())
    }
}

impl Prompt {
    /// Writes examples: a user message and the answer to it each, in the form that
    /// the node's answers have.
    ///
    /// Of an example's node only the user message is written: its system message is
    /// there already, its history is not the conversation's, and its examples would
    /// have no end. An output that cannot be written, or that the node could not
    /// read as an answer, is a `prep_error` with the number of the example;
    /// validators do not run.
    pub fn examples<N, S, E>(&mut self, node: &N, state: &S, examples: impl FnOnce() -> E)
    where
        N: LlmNode<S>,
        N::Output: ExampleOutput,
        S: ?Sized,
        E: IntoIterator<Item: IntoExample<N>>,
    {
        if self.is_example() {
            return;
        }
        let spec = node.output();
        let schema = match spec.source.schema() {
            Ok(schema) => schema,
            Err(fault) => return self.fail(&fault),
        };
        self.section = Section::Examples;
        for (index, example) in examples().into_iter().enumerate() {
            let Example { input, output } = example.into_example();
            self.section = Section::Example(index + 1);
            match input {
                Input::Node(node) => node.render(state, self),
                Input::Text(text) => self.push(Message::user(text)),
            }
            match answer(&output, &spec, schema.as_deref()) {
                Ok(text) => self.push(Message::assistant(text)),
                Err(fault) => self.fail(&fault),
            }
            self.section = Section::Examples;
        }
        self.section = Section::Prompt;
    }
}

impl_debug!([N: Node] Example<N>:);

impl<N> fmt::Debug for Input<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Input::Node(_)) {
            "Node"
        } else {
            "Text"
        })
    }
}

fn answer<T: Serialize, S: ?Sized>(
    output: &T,
    spec: &OutputSpec<T, S>,
    schema: Option<&OutputSchema>,
) -> Result<String, String> {
    let unwritable = |error| format!("its output could not be written as JSON: {error}");
    let Some(schema) = schema else {
        return match serde_json::to_value(output).map_err(unwritable)? {
            serde_json::Value::String(text) => Ok(text),
            other => Ok(other.to_string()),
        };
    };
    let json = serde_json::to_string(output).map_err(unwritable)?;
    let json = if schema.is_wrapped() {
        format!(r#"{{"value":{json}}}"#)
    } else {
        json
    };
    match spec.read(&json, Some(schema), Reader::new().whole_text(), &mut None) {
        Ok(_) => Ok(json),
        Err(violations) => {
            let why = violations
                .first()
                .map(ToString::to_string)
                .unwrap_or_default();
            Err(format!("the node could not read its output: {why}"))
        }
    }
}
