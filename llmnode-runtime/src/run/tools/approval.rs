//! Whether a call may run: a tool may need an approval.
//!
//! Who decides is asked in this order: a decision that came with the conversation
//! that goes on, the handler of the run (`with_approval`), and else nobody: the
//! call waits, and the agent pauses. A tool that has begun before a pause is not
//! asked about again, and sees the arguments with which it began.

use llmnode_model::Category;
use llmnode_model::internal::catch_panic_async;
use serde_json::Value;

use super::invocation::Invocation;
use super::outcome::ToolOutcome;
use crate::error::NodeError;
use crate::pause::{CallState, Decision, Paused, WaitingCall};
use crate::run::core::RunCore;
use crate::run::cx::Cx;

/// Whether a call may run, and with which arguments.
pub(super) struct Permit {
    /// The arguments as a person has changed them.
    edited: Option<String>,
    /// Nobody needs to be asked any more.
    decided: bool,
    /// During this execution, and not before it.
    decided_now: bool,
}

impl Permit {
    pub(super) fn new(invocation: &Invocation<'_>, require_approval: bool) -> Self {
        let edited = match invocation.decision {
            Some(Decision::Edit(arguments)) => Some(arguments.to_string()),
            _ => invocation.origin.edited().map(str::to_owned),
        };
        // A tool that goes on has been approved, and has to see the same arguments.
        let edited = edited.or_else(|| invocation.edited_before());
        let decided = !require_approval
            || invocation.decision.is_some()
            || invocation.questions.is_some()
            || invocation.origin.is_paused();
        Permit {
            edited,
            decided,
            decided_now: false,
        }
    }

    pub(super) fn arguments<'a>(&'a self, invocation: &'a Invocation<'_>) -> &'a str {
        self.edited.as_deref().unwrap_or(&invocation.call.arguments)
    }

    pub(super) fn edited(&self) -> Option<&str> {
        self.edited.as_deref()
    }

    pub(super) fn applied_to(&self, outcome: ToolOutcome) -> ToolOutcome {
        let decided = self.decided_now || outcome.decided;
        ToolOutcome {
            decided,
            ..outcome.edited(self.edited())
        }
    }

    /// `false`: a person edited the arguments, so they are read again.
    pub(super) async fn is_granted<S: ?Sized>(
        &mut self,
        cx: &Cx<'_, S>,
        invocation: &Invocation<'_>,
    ) -> Result<bool, ToolOutcome> {
        if self.decided {
            return Ok(true);
        }
        self.decided = true;
        let decision = ask(cx, invocation).await?;
        self.decided_now = decision.is_some();
        match decision {
            None => Err(ToolOutcome::waits(CallState::Approval(None))),
            Some(Decision::No(why)) => Err(self.applied_to(ToolOutcome::denied(&why))),
            Some(Decision::Edit(arguments)) => {
                self.edited = Some(Value::to_string(&arguments));
                Ok(false)
            }
            Some(Decision::Yes | Decision::Result(_)) => Ok(true),
        }
    }
}

pub(in crate::run) async fn ask_handler(
    core: &RunCore,
    mut paused: Paused,
) -> Result<Option<Paused>, NodeError> {
    let Some(approver) = &core.approver else {
        return Ok(None);
    };
    for call in paused.waiting() {
        let id = call.id.clone();
        let approval = catch_panic_async(|| approver(call))
            .await
            .map_err(|panic_message| panicked(&panic_message))?;
        if approval.is_later() {
            return Ok(None);
        }
        paused = paused.decide(&id, approval)?;
    }
    Ok(Some(paused))
}

fn panicked(message: &str) -> NodeError {
    let message = format!("the handler of `with_approval` panicked: {message}");
    NodeError::new(Category::Panic, message)
}

/// The decision of the run's handler about one call. `None`: there is no handler,
/// or it decides later.
async fn ask<S: ?Sized>(
    cx: &Cx<'_, S>,
    invocation: &Invocation<'_>,
) -> Result<Option<Decision>, ToolOutcome> {
    let Some(approver) = &cx.context.core.approver else {
        return Ok(None);
    };
    let id = invocation.path().to_owned();
    let node = cx.context.call.node().to_string();
    let called = &invocation.call;
    let call = WaitingCall::shown(id, node, &called.name, &called.arguments, false);
    match catch_panic_async(|| approver(call)).await {
        Ok(approval) => Ok(approval.decision()),
        Err(panic_message) => Err(ToolOutcome::stopped(panicked(&panic_message))),
    }
}
