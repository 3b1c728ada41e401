//! A conversation that goes on where an earlier call paused.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::category::Category;
use crate::error::NodeError;
use crate::ledger::CallScope;
use crate::model::Request;
use crate::pause::{Conversation, Paused};
use crate::text::hashed;

/// The conversation that a call belongs to.
#[derive(Default)]
pub struct Origin<'r> {
    /// The conversation that it, or a call within, goes on with.
    paused: Option<&'r Paused>,
    /// One call goes on with it.
    taken: AtomicBool,
    /// The call of a tool that it is, or is within: what tells the conversation from others, and the ids of the calls around it and
    /// its own.
    pub(super) tool: Option<(&'r str, String)>,
}

impl<'r> Origin<'r> {
    /// Of a call that goes on with a conversation.
    pub fn paused(paused: &'r Paused) -> Self {
        Origin { paused: Some(paused), ..Origin::default() }
    }

    /// Of a call of a tool.
    pub(super) fn tool(root: &'r str, path: String, paused: Option<&'r Paused>) -> Self {
        Origin { paused, tool: Some((root, path)), ..Origin::default() }
    }

    /// The conversation to go on with.
    pub(super) fn pause(&self) -> Option<&'r Paused> {
        self.paused
    }

    /// Whether there is a conversation to go on with.
    pub(super) fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    /// The conversation, if this call is the one that paused.
    pub(super) fn take(
        &self,
        fingerprint: &str,
        call: &CallScope<'_>,
    ) -> Result<Option<&'r Conversation>, NodeError> {
        let refused = |why: String| Err(NodeError::new(Category::ConfigError, why));
        let Some(paused) = self.paused.filter(|_| !self.taken.load(Ordering::Relaxed)) else {
            return Ok(None);
        };
        let (conversation, node) = (&*paused.0, call.node());
        if conversation.node != *node {
            // A node that stands for others, or calls them, has the one that paused further in.
            return match call.depth {
                0 => refused(format!(
                    "the pause belongs to the node `{}`, and this is `{node}`",
                    conversation.node
                )),
                _ => Ok(None),
            };
        }
        if conversation.fingerprint != fingerprint {
            return refused(format!(
                "the prompt, the tools or the output of `{node}` changed since the pause; call the node unchanged, or start again"
            ));
        }
        if let [first, more @ ..] = &*paused.waiting() {
            let more = if more.is_empty() { String::new() } else { format!(" (and {} more)", more.len()) };
            let how = if first.wants_result { "answer" } else { "decide" };
            return refused(format!(
                "the call {:?} of `{}` is not decided{more}; `paused.{how}(id, ..)` does that",
                first.id, first.tool
            ));
        }
        self.taken.store(true, Ordering::Relaxed);
        Ok(Some(conversation))
    }
}

/// What tells what is asked from anything else: the prompt, the tools, the output.
pub(super) fn fingerprint(request: &Request, prompt: usize) -> String {
    let Request { messages, output, tools, .. } = request;
    let output = output.as_ref().map(|output| (output.name(), output.plain()));
    let tools: Vec<_> =
        tools.iter().map(|tool| json!([tool.name, tool.description, tool.schema.plain()])).collect();
    hashed(json!([messages.get(..prompt), tools, output]).to_string().as_bytes())
}
