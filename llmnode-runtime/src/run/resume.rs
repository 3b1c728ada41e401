//! A conversation that continues where an earlier call paused.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use llmnode_model::{Category, Message, Request};
use llmnode_reader::ask::without_choices;
use serde_json::json;

use super::shown;
use crate::error::NodeError;
use crate::ledger::CallGuard;
use crate::pause::{Conversation, Paused, Shown, Unfinished};

/// The conversation that a call belongs to.
#[derive(Default)]
pub struct Origin<'r> {
    paused: Option<&'r Paused>,
    /// The call before it failed, and nothing waits.
    after_failure: bool,
    allow_changed_tool: bool,
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
        Origin {
            paused: Some(paused),
            ..Origin::default()
        }
    }

    /// The same, whatever the tools say now.
    #[must_use]
    pub fn allowing_changed_tool(self, allow: bool) -> Self {
        Origin {
            allow_changed_tool: allow,
            ..self
        }
    }

    /// Of a call that goes on after one that failed.
    pub(super) fn unfinished(unfinished: &'r Unfinished) -> Self {
        Origin {
            paused: Some(&unfinished.0),
            after_failure: true,
            ..Origin::default()
        }
    }

    pub(super) fn tool(depth: usize, tool: (&'r str, String), paused: Option<&'r Paused>) -> Self {
        Origin {
            paused,
            depth,
            tool: Some(tool),
            ..Origin::default()
        }
    }

    /// Resets the counter at this depth, so that nested agents get the ids they had before.
    pub(super) fn restart_agents(&self, depth: usize) {
        if depth == self.depth {
            self.agents.store(0, Ordering::Relaxed);
        }
    }

    /// Keeps several agents of one function apart: each numbers its own calls.
    /// `~+1` cannot be an id: ids escape `~`.
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

    /// Whether it continues a pause, and not a failure.
    pub(super) fn is_approval(&self) -> bool {
        self.paused.is_some() && !self.after_failure
    }

    pub(super) fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    fn what(&self) -> &'static str {
        if self.after_failure {
            "conversation"
        } else {
            "pause"
        }
    }

    pub(super) fn edited(&self) -> Option<&'r str> {
        self.paused?.0.edited.as_deref()
    }

    /// Only the call that paused gets the conversation.
    pub(super) fn take(
        &self,
        now: &Now<'_>,
        call: &CallGuard<'_>,
    ) -> Result<Option<&'r Conversation>, NodeError> {
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
            let what = self.what();
            let paused = &conversation.node;
            return refused(format!(
                "the {what} belongs to the node `{paused}`, and this is `{node}`"
            ));
        }
        if let Err(fault) = self.belongs(conversation, now, node) {
            // A repeated function may call one node several times, and so may a
            // step with journaled answers.
            let one_of_several = further_in && (self.tool.is_some() || now.root.is_some());
            return if one_of_several { Ok(None) } else { Err(fault) };
        }
        if !self.after_failure {
            check_decided(paused)?;
        }
        if !self.allow_changed_tool {
            shown::check_tools(conversation, now.shown)?;
        }
        self.taken.store(true, Ordering::Relaxed);
        Ok(Some(conversation))
    }

    /// Whether the conversation is this call's: of the same values, and of the same step or item.
    fn belongs(
        &self,
        conversation: &Conversation,
        now: &Now<'_>,
        node: &str,
    ) -> Result<(), NodeError> {
        let what = self.what();
        let is_same_request = conversation.fingerprint == now.fingerprint;
        let before = conversation
            .shown
            .as_deref()
            .and_then(|shown| Some((shown, shown.values.as_ref()?)));
        match before.zip(now.shown.values.as_ref()) {
            _ if is_same_request => {}
            Some(((_, before), values)) if before != values => {
                return refused(format!(
                    "the fields of `{node}` changed since the {what}; call the node with the values that it had, or start again"
                ));
            }
            Some(((shown, _), _)) if !self.after_failure && shown.history != now.shown.history => {
                return refused(format!(
                    "the history of `{node}` changed since the {what}; call the node with the history that it had, or start again"
                ));
            }
            Some(_) => {}
            None if self.after_failure => {}
            None => {
                return refused(format!(
                    "the prompt, the tools or the output of `{node}` changed since the pause; call the node unchanged, or start again"
                ));
            }
        }
        let is_elsewhere = now.root.is_some_and(|root| root != conversation.root);
        // Of another prompt, a journal has another conversation.
        if self.tool.is_none() && is_elsewhere && is_same_request {
            return refused(match self.after_failure {
                true => format!(
                    "the conversation of `{node}` belongs to another step or item; leave out `resume`"
                ),
                false => format!(
                    "the pause of `{node}` belongs to another step or item; leave out `approve`, and decide the pause that `resume` \
                     returns"
                ),
            });
        }
        Ok(())
    }
}

/// The call that a conversation may go on in.
pub(super) struct Now<'a> {
    /// Of its request.
    pub(super) fingerprint: &'a str,
    pub(super) shown: &'a Shown,
    /// Its conversation, if a journal knows it.
    pub(super) root: Option<&'a str>,
}

fn refused<T>(why: String) -> Result<T, NodeError> {
    Err(NodeError::new(Category::ConfigError, why))
}

fn check_decided(paused: &Paused) -> Result<(), NodeError> {
    let [first, more @ ..] = &*paused.waiting() else {
        return Ok(());
    };
    let more = if more.is_empty() {
        String::new()
    } else {
        format!(" (and {} more)", more.len())
    };
    let how = if first.wants_result || first.question.is_some() {
        "answer"
    } else {
        "decide"
    };
    refused(format!(
        "the call {:?} of `{}` is not decided{more}; `paused.{how}(id, ..)` does that",
        first.id, first.name
    ))
}

pub(super) fn fingerprint(request: &Request, prompt: usize) -> String {
    let Request {
        messages, output, ..
    } = request;
    let output = output
        .as_ref()
        .map(|output| (output.name(), without_choices(output).plain()));
    let tools: Vec<_> = request
        .callable()
        .iter()
        .map(shown::tool_as_shown)
        .collect();
    // How an earlier call was cached is no part of what is asked, and neither is
    // what was found for it.
    let messages = messages.get(..prompt).map(|messages| {
        let unsent = |message: &Message| message.clone().answering(None).finding(None);
        messages.iter().map(unsent).collect::<Vec<_>>()
    });
    shown::hash(&json!([messages, tools, output]))
}
