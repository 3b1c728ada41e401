//! A conversation that continues where an earlier call paused.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use llmnode_model::internal::sha256_hex;
use llmnode_model::{Category, Request};
use serde_json::json;

use crate::error::NodeError;
use crate::ledger::CallGuard;
use crate::pause::{Conversation, Paused, Unfinished};
use llmnode_reader::internal::without_choices;

/// The conversation that a call belongs to.
#[derive(Default)]
pub struct Origin<'r> {
    paused: Option<&'r Paused>,
    /// The call before it failed, and nothing waits.
    after_failure: bool,
    /// Only one call continues the conversation.
    taken: AtomicBool,
    depth: usize,
    agents: AtomicUsize,
    /// In a tool: the id of the conversation, and the ids of the calls down to this one.
    pub(super) tool: Option<(&'r str, String)>,
    pub(super) journal: Option<String>,
}

impl<'r> Origin<'r> {
    /// Of a call that continues a conversation.
    pub fn paused(paused: &'r Paused) -> Self {
        Origin { paused: Some(paused), ..Origin::default() }
    }

    /// Of a call that goes on after one that failed.
    pub(super) fn unfinished(unfinished: &'r Unfinished) -> Self {
        Origin { paused: Some(&unfinished.0), after_failure: true, ..Origin::default() }
    }

    pub(super) fn tool(depth: usize, tool: (&'r str, String), paused: Option<&'r Paused>) -> Self {
        Origin { paused, depth, tool: Some(tool), ..Origin::default() }
    }

    /// Resets the counter at this depth, so that nested agents get the ids they had before.
    pub(super) fn restart_agents(&self, depth: usize) {
        if depth == self.depth {
            self.agents.store(0, Ordering::Relaxed);
        }
    }

    /// Keeps several agents of one function apart: each numbers its own calls. `~+1` cannot be an id: ids escape `~`.
    pub(super) fn around(&self) -> Option<String> {
        let (_, path) = self.tool.as_ref()?;
        Some(match self.agents.fetch_add(1, Ordering::Relaxed) {
            0 => path.clone(),
            place => format!("{path}/~+{place}"),
        })
    }

    pub(super) fn pause(&self) -> Option<&'r Paused> {
        self.paused
    }

    pub(super) fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    fn what(&self) -> &'static str {
        if self.after_failure { "conversation" } else { "pause" }
    }

    pub(super) fn edited(&self) -> Option<&'r str> {
        self.paused?.0.edited.as_deref()
    }

    /// Only the call that paused gets the conversation. `root`: this call's conversation, if a journal knows it.
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
            // The call that paused is further in.
            if further_in {
                return Ok(None);
            }
            let paused = &conversation.node;
            let what = self.what();
            return refused(format!("the {what} belongs to the node `{paused}`, and this is `{node}`"));
        }
        // A repeated function may call one node several times, and so may a step with journaled answers.
        let one_of_several = further_in && (self.tool.is_some() || root.is_some());
        if !self.after_failure && conversation.fingerprint != fingerprint {
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
            return refused(if self.after_failure {
                format!("the conversation of `{node}` belongs to another step or item; leave out `resume`")
            } else {
                format!(
                    "the pause of `{node}` belongs to another step or item; leave out `approve`, and decide the pause that `resume` \
                     returns"
                )
            });
        }
        if let [first, more @ ..] = &*paused.waiting()
            && !self.after_failure
        {
            let more = if more.is_empty() { String::new() } else { format!(" (and {} more)", more.len()) };
            let how = if first.wants_result { "answer" } else { "decide" };
            return refused(format!(
                "the call {:?} of `{}` is not decided{more}; `paused.{how}(id, ..)` does that",
                first.id, first.name
            ));
        }
        self.taken.store(true, Ordering::Relaxed);
        Ok(Some(conversation))
    }
}

pub(super) fn fingerprint(request: &Request, prompt: usize) -> String {
    let Request { messages, output, tools, .. } = request;
    let output = output.as_ref().map(|output| (output.name(), without_choices(output).plain()));
    let tools: Vec<_> = tools
        .iter()
        .map(|tool| json!([tool.name, tool.description, without_choices(&tool.schema).plain()]))
        .collect();
    sha256_hex(json!([messages.get(..prompt), tools, output]).to_string().as_bytes())
}
