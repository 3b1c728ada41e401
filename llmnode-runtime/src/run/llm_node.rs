//! A node that asks a model.

use llmnode_model::ChatModel;

use super::choices::{Choices, ChosenValues};
use super::fallback::FallbackFuture;
use super::tools::Tools;
use crate::error::NodeError;
use crate::node::Node;
use crate::output::OutputSpec;
use crate::prompt::generated::Prompt;

/// A node that asks a model: what `#[llm_node]` states about it.
pub trait LlmNode<S: ?Sized>: Node {
    /// Writes the prompt.
    fn render(&self, state: &S, to: &mut Prompt);

    /// Writes the values of the node's own fields, each as a user message, and its
    /// history: what tells one call of the node from another, without texts and
    /// without the state. `false`: the node does not say. Written for nodes with
    /// tools alone, whose conversations can wait.
    fn own_values(&self, state: &S, to: &mut Prompt) -> bool {
        let _ = (state, to);
        false
    }

    /// The model that the node holds, which is asked in place of the run's.
    fn model(&self) -> Option<&dyn ChatModel> {
        None
    }

    /// How an answer is read and checked.
    fn output(&self) -> OutputSpec<Self::Output, S>;

    /// Lists the values that places of an answer may have.
    fn choices(&self, state: &S, to: &mut Choices) {
        let _ = (state, to);
    }

    /// Visits the values of an answer that belong to the list with this index.
    fn chosen(&self, value: &Self::Output, list: usize, to: &mut ChosenValues) {
        let _ = (value, list, to);
    }

    /// Lists the tools that the model may call.
    fn tools(&self, to: &mut Tools<S>) {
        let _ = to;
    }

    /// Gives the value that takes the place of an answer at the recovery's step
    /// `fallback`; `None`: the node has none. The error has the record of the call
    /// so far.
    fn fallback<'a>(
        &'a self,
        state: &'a S,
        error: &'a NodeError,
        to: &'a mut Option<Self::Output>,
    ) -> Option<FallbackFuture<'a>> {
        let _ = (state, error, to);
        None
    }

    /// The text of a fallback value, for recordings; `None`: its type cannot be serialized.
    fn fallback_text(&self, value: &Self::Output) -> Option<String> {
        let _ = value;
        None
    }
}
