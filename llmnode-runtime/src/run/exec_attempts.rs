//! A node that asks no model itself, as the attempt loop tries it: one try is one
//! execution. The counts belong to one call, so parallel calls of the same node do
//! not disturb each other.

use llmnode_model::{BoxError, BoxFuture};

use super::attempt_loop::{self, Attempts, CallPlan, PlannedAttempt};
use super::context::CallContext;
use super::erased_exec::ErasedExec;
use super::failure::Failure;
use crate::error::NodeError;
use crate::ledger::{CallGuard, UsedFallback};
use crate::limits::Deadline;
use crate::settings::{AfterFailure, NodeKind, Progress, Resolved, Settings};
use crate::validate::AttemptInfo;

/// In a box, since only nodes that ask no model need its room in the call.
pub(super) fn exec_with_attempts<'a>(
    node: &'a mut (dyn ErasedExec<'_, '_> + 'a),
    context: &'a CallContext<'a>,
    levels: [&'a Settings; 4],
) -> BoxFuture<'a, Result<(), NodeError>> {
    Box::pin(async move {
        let call = context.call;
        let kind = NodeKind {
            // `exec_fallback`, which every such node has.
            fallback: true,
            ..NodeKind::from_facts(node.facts(), None)
        };
        let settings = Resolved::new(levels, kind)?;
        if let Some(listener) = context.listener() {
            listener.set_schema(None)?;
        }
        let call_deadline = match settings.deadline() {
            Some(time) => Deadline::of_call(call, time),
            None => None,
        };
        let plan = CallPlan::new(*context, settings, &call_deadline);
        let mut executing = ExecAttempts {
            context: &plan.context,
            node,
            last: context.attempt,
            failed: 0,
        };
        let Err(ended) = attempt_loop::run(&plan, &mut executing).await else {
            return Ok(());
        };
        let error = ended.before_fallback(call)?;
        let last = CallContext {
            attempt: executing.last,
            ..*context
        };
        let outcome = executing.node.fall_back(error, last).await;
        record_fallback(call, outcome)
    })
}

fn record_fallback(call: &CallGuard<'_>, outcome: Result<(), BoxError>) -> Result<(), NodeError> {
    let error = match outcome {
        Ok(()) => {
            call.set_used_fallback(UsedFallback::Value);
            return Ok(());
        }
        Err(error) => NodeError::of_execution(error),
    };
    // The record is complete only when the call ends.
    if let Some(record) = error.record()
        && record.id == call.id
    {
        return Err(error.without_record());
    }
    Err(error)
}

struct ExecAttempts<'r, 'n, 'o> {
    context: &'r CallContext<'r>,
    node: &'r mut dyn ErasedExec<'n, 'o>,
    /// The last execution, whose number the fallback sees.
    last: AttemptInfo,
    /// How many executions have failed.
    failed: u32,
}

impl Attempts for ExecAttempts<'_, '_, '_> {
    async fn once(&mut self, one: &PlannedAttempt, _: &Progress<'_>) -> Result<(), Failure> {
        let CallContext { call, origin, .. } = *self.context;
        if self.failed > 0 {
            call.begin_retry();
        }
        self.last = one.attempt;
        if let Some(origin) = origin {
            origin.restart_agents(call.depth);
        }
        let context = CallContext {
            attempt: one.attempt,
            ..*self.context
        };
        let Err(error) = self.node.execute(context).await else {
            return Ok(());
        };
        Err(Failure::from_exec_error(NodeError::of_execution(error)))
    }

    async fn failed(
        &mut self,
        one: &PlannedAttempt,
        failure: &mut Failure,
        _: &AfterFailure,
    ) -> Result<(), NodeError> {
        self.failed = self.failed.saturating_add(1);
        self.context
            .call
            .failed(self.failed, one.wait, failure.category, &failure.message);
        Ok(())
    }
}
