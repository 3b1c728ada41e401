//! A tool of a set, executed outside of an agent's round.

use super::called::{Around, Called};
use super::dynamic::execute;
use super::outcome::{Outcome, Told};
use super::round::unknown;
use super::toolset::Toolset;
use super::value::ToolReply;
use crate::category::Category;
use crate::error::NodeError;
use crate::model::{ToolCall, ToolSpec};
use crate::pause::{Decision, Stand};
use crate::run::cx::Cx;

/// What a call of a tool came to.
pub struct ToolRun {
    /// What a model would read.
    pub reply: ToolReply,
    /// Whether the tool failed, or there is none of that name.
    pub failed: bool,
}

/// Executes a call of a tool, which needs no approval any more. `None`: its result comes from outside.
///
/// # Errors
/// What ends the calling node: a limit is reached, the tool aborted, or it waits itself.
pub async fn execute_tool<S: ?Sized + Sync>(
    tools: &Toolset,
    cx: &Cx<'_, S>,
    call: &ToolCall,
) -> Result<Option<ToolRun>, NodeError> {
    let root = cx.scope.id.to_string();
    let approved = Stand::Approval(Some(Decision::Yes));
    let around = Around { conversation: (&root, ""), depth: cx.scope.depth, kept: None };
    let called = Called::new(call, Some(&approved), around);
    let outcome = match tools.tools().find(|tool| tool.spec.name == call.name) {
        Some(tool) => {
            let counted = cx.limits.execute_tools(1);
            counted.map_err(|why| NodeError::new(Category::LimitExceeded, why))?;
            execute(tool, cx, &called).await
        }
        None => {
            let specs: Vec<ToolSpec> = tools.tools().map(|tool| tool.spec.clone()).collect();
            Outcome::refused("unknown_tool", unknown(&specs, &call.name, cx.scope.node()))
        }
    };
    match outcome.told {
        Told::Result(reply) => Ok(Some(ToolRun { reply, failed: false })),
        Told::Failure(said) => Ok(Some(ToolRun { reply: ToolReply::new(said), failed: true })),
        Told::Waits(Stand::Within(paused)) => Err(paused.into_error()),
        Told::Waits(_) => Ok(None),
        Told::Stopped(error) => Err(error),
    }
}

/// What is wrong with the arguments of a call, before anything runs. A tool that is not there refuses none.
pub fn refused_arguments(tools: &Toolset, call: &ToolCall) -> Option<String> {
    let tool = tools.tools().find(|tool| tool.spec.name == call.name)?;
    match tool.refuses(&call.arguments)?.told {
        Told::Failure(said) => Some(said),
        Told::Result(_) | Told::Waits(_) | Told::Stopped(_) => None,
    }
}

impl std::fmt::Debug for ToolRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ToolRun {{ reply: {:?}, failed: {} }}", self.reply, self.failed)
    }
}
