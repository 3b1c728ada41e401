//! A conversation that continues where an earlier call paused.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;

use crate::category::Category;
use crate::error::NodeError;
use crate::ledger::CallGuard;
use crate::model::Request;
use crate::pause::{Conversation, Paused};
use crate::text::sha256_hex;

/// The conversation that a call belongs to.
#[derive(Default)]
pub struct Origin<'r> {
    /// The conversation that it, or a call within, continues.
    paused: Option<&'r Paused>,
    /// A call has taken it: only one continues it.
    taken: AtomicBool,
    /// How many calls are around the one that it is made for.
    depth: usize,
    /// How many agents that call has begun.
    agents: AtomicUsize,
    /// The call of a tool that it is, or is within: what tells the conversation from others, and the ids of the calls around it and
    /// its own.
    pub(super) tool: Option<(&'r str, String)>,
    /// The name of that call where results are kept, if they are.
    pub(super) journal: Option<String>,
}

impl<'r> Origin<'r> {
    /// Of a call that continues a conversation.
    pub fn paused(paused: &'r Paused) -> Self {
        Origin { paused: Some(paused), ..Origin::default() }
    }

    /// Of a call of a tool, with so many calls around it.
    pub(super) fn tool(depth: usize, tool: (&'r str, String), paused: Option<&'r Paused>) -> Self {
        Origin { paused, depth, tool: Some(tool), ..Origin::default() }
    }

    /// The call that it is made for, which stands within so many, is executed: its agents have the same places as the last time.
    pub(super) fn restart_agents(&self, depth: usize) {
        if depth == self.depth {
            self.agents.store(0, Ordering::Relaxed);
        }
    }

    /// The ids of the calls around those of an agent that begins now. A function may call several agents, and each of them numbers its
    /// calls on its own. `~+1` is no id: in one, `~` is escaped.
    pub(super) fn around(&self) -> Option<String> {
        let (_, path) = self.tool.as_ref()?;
        Some(match self.agents.fetch_add(1, Ordering::Relaxed) {
            0 => path.clone(),
            place => format!("{path}/~+{place}"),
        })
    }

    /// The conversation to continue.
    pub(super) fn pause(&self) -> Option<&'r Paused> {
        self.paused
    }

    /// Whether there is a conversation to continue.
    pub(super) fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    /// The arguments that a person wrote for the call of the tool in which it paused.
    pub(super) fn edited(&self) -> Option<&'r str> {
        self.paused?.0.edited.as_deref()
    }

    /// The conversation, if this call is the one that paused. `root`: what tells this call's conversation from others, where a journal
    /// knows it.
    pub(super) fn take(
        &self,
        fingerprint: &str,
        root: Option<&str>,
        call: &CallGuard<'_>,
    ) -> Result<Option<&'r Conversation>, NodeError> {
        let refused = |why: String| Err(NodeError::new(Category::ConfigError, why));
        let Some(paused) = self.paused.filter(|_| !self.taken.load(Ordering::Relaxed)) else {
            return Ok(None);
        };
        paused.check_version()?;
        let (conversation, node) = (&*paused.0, call.node());
        let further_in = call.depth > self.depth;
        if conversation.node != *node {
            // A node that stands for others, or calls them, has the one that paused further in.
            if further_in {
                return Ok(None);
            }
            let paused = &conversation.node;
            return refused(format!("the pause belongs to the node `{paused}`, and this is `{node}`"));
        }
        // A function that is executed again may call one node several times, and so may a step whose answers are kept.
        let one_of_several = further_in && (self.tool.is_some() || root.is_some());
        if conversation.fingerprint != fingerprint {
            if one_of_several {
                return Ok(None);
            }
            return refused(format!(
                "the prompt, the tools or the output of `{node}` changed since the pause; call the node unchanged, or start again"
            ));
        }
        if self.tool.is_none() && root.is_some_and(|root| root != conversation.root) {
            if one_of_several {
                return Ok(None);
            }
            return refused(format!(
                "the pause of `{node}` belongs to another step or item; leave out `approve`, and decide the pause that `resume` returns"
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
    sha256_hex(json!([messages.get(..prompt), tools, output]).to_string().as_bytes())
}
