//! The pause of a node that is known only at run time: the node itself waits, or a call in it does.

use llmnode_model::{Category, ToolCall};

use super::call_state::{CallState, Conversation, OpenCall, Paused};
use super::decision::Decision;
use super::paused::PausedError;
use crate::error::NodeError;

/// What was decided about a node that continues from a pause.
#[derive(Debug)]
pub enum NodePause<'p> {
    /// The node waits, and nothing is decided.
    Undecided,
    /// The node may run.
    Yes,
    /// The node may not run.
    No(&'p str),
    /// The node may run, with these values.
    Edit(&'p serde_json::Value),
    /// The node is approved or needs no approval, and a call in it waits; with what was shown when it paused.
    Within(&'p Paused, &'p str),
}

impl Paused {
    /// Creates the pause of a node: the node as a whole waits, or with `within` a call in it. `shown`: the name of what
    /// waits, and JSON.
    pub fn of_node(
        node: &str,
        fingerprint: String,
        shown: (&str, String),
        within: Option<Paused>,
    ) -> Self {
        let state = within.map_or(CallState::Approval(None), |paused| {
            CallState::Within(Box::new(paused))
        });
        Paused(Box::new(Conversation {
            node: node.to_owned(),
            fingerprint,
            root: node.to_owned(),
            position: None,
            model: None,
            turns: 0,
            unknown: 0,
            shown: None,
            prompt: None,
            messages: Vec::new(),
            failed: Vec::new(),
            content: String::new(),
            carried: None,
            edited: None,
            sent: None,
            compacted: None,
            calls: vec![OpenCall {
                call: ToolCall::new(node, shown.0, shown.1),
                state,
            }],
        }))
    }

    /// Returns what is decided about the node, if this is the pause [of a node](Paused::of_node).
    pub fn node_pause(&self) -> Option<NodePause<'_>> {
        let [OpenCall { call, state }] = &*self.0.calls else {
            return None;
        };
        if call.id != self.0.node {
            return None;
        }
        Some(match state {
            CallState::Within(paused) => NodePause::Within(paused, &call.arguments),
            state => match state.decision() {
                None => NodePause::Undecided,
                Some(Decision::No(why)) => NodePause::No(why),
                Some(Decision::Edit(values)) => NodePause::Edit(values),
                Some(Decision::Yes | Decision::Result(_)) => NodePause::Yes,
            },
        })
    }

    /// Returns the fingerprint of what was shown.
    pub fn fingerprint(&self) -> &str {
        &self.0.fingerprint
    }

    /// Returns the error of a call that ends with this pause.
    pub fn into_error(self) -> NodeError {
        let waits = PausedError(self);
        let message = waits.message();
        NodeError::new(Category::Paused, message).with_source(waits)
    }
}
