//! What is sent of a request, and how.

use llmnode_model::{Reasoning, ResponseFormat};

use crate::refusal::efforts::Thinking;
use crate::refusal::parts::Situation;
use crate::refusal::quirks::Quirks;

/// Computed by `shape.rs`, read by everything that writes a body.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequestShape<'a> {
    // What is believed of the model in this situation.
    pub(crate) quirks: Quirks,
    pub(crate) situation: Situation<'a>,
    // How the answer's type is asked for, and its name.
    pub(crate) schema: Option<(ResponseFormat, &'a str)>,
    pub(crate) tools: bool,
    // Whether parts of the provider's go back to it.
    pub(crate) carries: bool,
    /// The turn began without thinking, so that the model may not think now.
    pub(crate) no_thinking: bool,
    // What was asked for, and the way in which it is sent.
    pub(crate) thinking: Option<(Reasoning, Thinking)>,
    // Whether the state's lists are in the schema.
    pub(crate) choices: bool,
    /// Tools are taken by this API only without thoughts.
    pub(crate) without_thoughts: bool,
    /// The provider leaves out thoughts that are bound to another beginning of the conversation.
    pub(crate) drops_bound_thoughts: bool,
    /// The function for the answer stays listed, although the answer is asked for in another way.
    pub(crate) keeps_function: bool,
}
