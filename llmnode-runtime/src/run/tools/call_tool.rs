//! A tool of a set, executed outside of an agent's round.

use std::future::Future;
use std::sync::Arc;

use llmnode_model::{Category, ToolCall, ToolSpec};

use super::any_tool::{Stateless, run_tool};
use super::invocation::{ConversationId, Invocation};
use super::outcome::{ToolEffect, ToolOutcome};
use super::round::unknown_tool_message;
use super::toolset::Toolset;
use super::value::ToolReply;
use crate::error::NodeError;
use crate::pause::{CallState, Decision};
use crate::run::cx::Cx;

/// The outcome of a call of a tool.
pub struct ToolRun {
    /// What a model would read.
    pub reply: ToolReply,
    /// Whether the tool failed, or there is none of that name.
    pub failed: bool,
}

/// The inside of a set of tools.
pub trait ToolsetInternals {
    /// Executes a call of a tool, which needs no approval any more. `None`: its
    /// result comes from outside.
    ///
    /// # Errors
    /// What ends the calling node: a limit is reached, the tool aborted, or it
    /// waits itself.
    fn execute<S: ?Sized + Sync>(
        &self,
        cx: &Cx<'_, S>,
        call: &ToolCall,
    ) -> impl Future<Output = Result<Option<ToolRun>, NodeError>> + Send;

    /// Returns what is wrong with the arguments of a call, before anything runs.
    /// The arguments of an unknown tool are not checked.
    fn refused_arguments(&self, call: &ToolCall) -> Option<String>;
}

impl ToolsetInternals for Toolset {
    fn execute<S: ?Sized + Sync>(
        &self,
        cx: &Cx<'_, S>,
        call: &ToolCall,
    ) -> impl Future<Output = Result<Option<ToolRun>, NodeError>> + Send {
        execute_tool(self, cx, call)
    }

    fn refused_arguments(&self, call: &ToolCall) -> Option<String> {
        let tool = self.tools().find(|tool| tool.spec.name == call.name)?;
        let fault = tool.tool.argument_fault(&tool.spec, &call.arguments)?;
        match fault.effect {
            ToolEffect::Failure(message) => Some(message),
            ToolEffect::Result(_) | ToolEffect::Waits(_) | ToolEffect::Stopped(_) => None,
        }
    }
}

async fn execute_tool<S: ?Sized + Sync>(
    tools: &Toolset,
    cx: &Cx<'_, S>,
    call: &ToolCall,
) -> Result<Option<ToolRun>, NodeError> {
    let root = cx.context.call.id.to_string();
    let approved = CallState::Approval(Some(Decision::Yes));
    let conversation = ConversationId {
        id: &root,
        parent_path: "",
        depth: cx.context.call.depth,
        journal: None,
        claim: None,
    };
    let invocation = Invocation::new(call, Some(&approved), conversation);
    let outcome = match tools.tools().find(|tool| tool.spec.name == call.name) {
        Some(tool) => {
            let counted = cx.context.limits.charge_tools(1);
            counted.map_err(|why| NodeError::new(Category::LimitExceeded, why))?;
            let body = Stateless(Arc::clone(&tool.tool));
            run_tool(&body, &tool.listed(), cx, &invocation).await
        }
        None => {
            let specs: Vec<ToolSpec> = tools.tools().map(|tool| tool.spec.clone()).collect();
            ToolOutcome::refused(
                "unknown_tool",
                unknown_tool_message(&specs, &call.name, cx.context.call.node()),
            )
        }
    };
    match outcome.effect {
        ToolEffect::Result(reply) => Ok(Some(ToolRun {
            reply,
            failed: false,
        })),
        ToolEffect::Failure(message) => Ok(Some(ToolRun {
            reply: ToolReply::new(message),
            failed: true,
        })),
        ToolEffect::Waits(CallState::Within(paused)) => Err(paused.into_error()),
        ToolEffect::Waits(_) => Ok(None),
        ToolEffect::Stopped(error) => Err(error),
    }
}

impl std::fmt::Debug for ToolRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "ToolRun {{ reply: {:?}, failed: {} }}",
            self.reply, self.failed
        )
    }
}
