//! A node that asks no model itself, as the attempt loop tries it: one try is one execution.
//! All counts belong to one call, so parallel calls do not disturb each other, even of the same node.

use super::attempt_loop::{self, Attempts, Plan, PlannedAttempt};
use super::cx::Cx;
use super::failure::Failure;
use super::node::Exec;
use crate::category::Category;
use crate::error::NodeError;
use crate::ledger::{CallGuard, Degraded};
use crate::limits::Deadline;
use crate::settings::{Next, NodeKind, Resolved, Settings};
use crate::validate::AttemptInfo;
use crate::{BoxError, BoxFuture};

/// Executes a node that asks no model itself, again after an error as often as `attempts` says.
pub(super) async fn exec_with_attempts<N, S>(node: &N, cx: &Cx<'_, S>) -> Result<N::Output, NodeError>
where
    N: Exec<S>,
    S: ?Sized,
{
    let node_kind = NodeKind { fallback: true, ..NodeKind::of::<N>(None) };
    let mut own = TypedExec { node, cx: cx.on(cx.state), value: None };
    boxed(&mut own, node.settings(), node_kind, &cx.on(&())).await?;
    // It succeeds only with a value.
    own.value.ok_or_else(|| NodeError::new(Category::ExecError, "no value was given"))
}

/// A node without its types: the box proves once that the future is `Send`, and not for every node.
trait ErasedExec: Send {
    /// Executes it, and keeps the output.
    fn execute(
        &mut self,
        attempt: AttemptInfo,
        earliest_deadline: Option<&Deadline>,
    ) -> BoxFuture<'_, Result<(), BoxError>>;

    /// Keeps the fallback value as the output. The call's own deadline does not apply to it.
    fn fall_back(
        &mut self,
        error: NodeError,
        earliest_deadline: Option<&Deadline>,
    ) -> BoxFuture<'_, Result<(), BoxError>>;
}

struct TypedExec<'r, N: Exec<S>, S: ?Sized> {
    node: &'r N,
    cx: Cx<'r, S>,
    value: Option<N::Output>,
}

impl<N: Exec<S>, S: ?Sized> ErasedExec for TypedExec<'_, N, S> {
    fn execute(
        &mut self,
        attempt: AttemptInfo,
        earliest_deadline: Option<&Deadline>,
    ) -> BoxFuture<'_, Result<(), BoxError>> {
        self.cx.attempt = attempt;
        self.cx.deadline = earliest_deadline.cloned();
        if let Some(origin) = self.cx.origin {
            origin.restart_agents(self.cx.scope.depth);
        }
        Box::pin(async {
            self.value = Some(self.node.exec(&self.cx).await?);
            Ok(())
        })
    }

    fn fall_back(
        &mut self,
        error: NodeError,
        earliest_deadline: Option<&Deadline>,
    ) -> BoxFuture<'_, Result<(), BoxError>> {
        self.cx.deadline = earliest_deadline.cloned();
        Box::pin(async {
            self.value = Some(self.node.exec_fallback(&self.cx, error).await?);
            Ok(())
        })
    }
}

fn boxed<'a>(
    node: &'a mut dyn ErasedExec,
    settings: &'a Settings,
    node_kind: NodeKind,
    cx: &'a Cx<'_, ()>,
) -> BoxFuture<'a, Result<(), NodeError>> {
    Box::pin(async move {
        let call = cx.scope;
        let settings = Resolved::new([cx.settings, &cx.core.settings, settings], node_kind)?;
        if let Some(listener) = cx.listener {
            listener.set_schema(None)?;
        }
        let plan = Plan::new(cx, cx.limits, settings);
        let mut executing =
            ExecAttempts { call, node, failed: 0, earliest_deadline: plan.earliest_deadline.as_ref() };
        let Err(ended) = attempt_loop::run(&plan, &mut executing).await else { return Ok(()) };
        let error = ended.before_fallback(call)?;
        record_fallback(call, executing.node.fall_back(error, cx.deadline.as_ref()).await)
    })
}

/// The fallback's result is the call's result.
fn record_fallback(call: &CallGuard<'_>, outcome: Result<(), BoxError>) -> Result<(), NodeError> {
    let error = match outcome {
        Ok(()) => {
            call.degrade(Degraded::FallbackValue);
            return Ok(());
        }
        Err(error) => NodeError::of_execution(error),
    };
    // The whole record comes with the call's end.
    let own = error.record().is_some_and(|record| record.id == call.id);
    Err(if own { error.without_record() } else { error })
}

struct ExecAttempts<'r> {
    call: &'r CallGuard<'r>,
    node: &'r mut dyn ErasedExec,
    /// How many tries have failed.
    failed: u32,
    earliest_deadline: Option<&'r Deadline>,
}

impl Attempts for ExecAttempts<'_> {
    async fn once(&mut self, one: &PlannedAttempt) -> Result<(), Failure> {
        if self.failed > 0 {
            self.call.begin_retry();
        }
        let Err(error) = self.node.execute(one.attempt, self.earliest_deadline).await else { return Ok(()) };
        Err(Failure::from_exec_error(NodeError::of_execution(error)))
    }

    async fn failed(
        &mut self,
        one: &PlannedAttempt,
        failure: &mut Failure,
        _: &Next,
    ) -> Result<(), NodeError> {
        self.failed = self.failed.saturating_add(1);
        self.call.failed(self.failed, one.wait, failure.category, &failure.message);
        Ok(())
    }
}
