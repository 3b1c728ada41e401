//! A call of a tool, as the tool's side sees it.

use std::sync::OnceLock;

use llmnode_model::ToolCall;

use crate::error::NodeError;
use crate::ledger::ToolSpan;
use crate::pause::{Asked, CallState, Claim, Decision, segment};
use crate::run::context::Caller;
use crate::run::resume::Origin;

pub(in crate::run) struct Invocation<'c> {
    pub(super) call: &'c ToolCall,
    pub(super) decision: Option<&'c Decision>,
    /// The tool has asked before, and is called again with the replies.
    pub(super) questions: Option<&'c Asked>,
    pub(in crate::run) origin: Origin<'c>,
    claim: Option<&'c Claim>,
    pub(super) span: OnceLock<ToolSpan>,
}

/// The conversation that a call of a tool stands in.
#[derive(Clone, Copy)]
pub(in crate::run) struct ConversationId<'c> {
    /// Of the outermost agent: those of its tools have the same.
    pub(in crate::run) id: &'c str,
    /// The calls of tools around this conversation, outermost first. Empty: there are none.
    pub(in crate::run) parent_path: &'c str,
    /// How many calls of nodes stand around it.
    pub(in crate::run) depth: usize,
    /// Its name in the journal. `None`: nothing is journaled.
    pub(in crate::run) journal: Option<&'c str>,
    /// Of a conversation that goes on after an approval.
    pub(in crate::run) claim: Option<&'c Claim>,
}

impl<'c> Invocation<'c> {
    pub(super) fn new(
        call: &'c ToolCall,
        state: Option<&'c CallState>,
        conversation: ConversationId<'c>,
    ) -> Self {
        let mut paused = None;
        let mut questions = None;
        match state {
            Some(CallState::Within(conversation)) => paused = Some(&**conversation),
            Some(CallState::Asked(asked_before)) => questions = Some(&**asked_before),
            _ => {}
        }
        let segment = segment(&call.id);
        let path = match conversation.parent_path {
            "" => segment.clone(),
            parent => format!("{parent}/{segment}"),
        };
        let depth = conversation.depth + 1;
        let mut origin = Origin::tool(depth, (conversation.id, path), paused);
        if let Some(journal) = conversation.journal {
            origin.journal = Some(format!("{journal}/{segment}"));
        }
        let decision = state.and_then(CallState::decision);
        Invocation {
            call,
            decision,
            questions,
            origin,
            claim: conversation.claim,
            span: OnceLock::new(),
        }
    }

    /// The tool is about to begin, or to go on: what was approved or answered runs once.
    pub(super) fn claim(&self) -> Result<(), NodeError> {
        let is_decided = self.decision.is_some() || self.questions.is_some();
        match self.claim.filter(|_| is_decided) {
            Some(claim) => claim.take(),
            None => Ok(()),
        }
    }

    /// The arguments with which the tool began before it asked, if a person had edited them.
    pub(super) fn edited_before(&self) -> Option<String> {
        let began_with = &self.questions?.arguments;
        (*began_with != self.call.arguments).then(|| began_with.clone())
    }

    /// A function's call says the same as its tool, so they share a span.
    pub(super) fn caller<'x>(&'x self, caller: Caller<'x>, is_function: bool) -> Caller<'x> {
        match self.span.get().filter(|_| is_function) {
            Some(span) => caller.in_span(span.span()),
            None => caller,
        }
    }

    pub(super) fn path(&self) -> &str {
        self.origin.tool.as_ref().map_or("", |(_, path)| path)
    }
}
