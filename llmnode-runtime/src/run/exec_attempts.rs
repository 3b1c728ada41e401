//! A node that asks no model itself, as the attempt loop tries it: one try is one execution. The counts belong to one call,
//! so parallel calls of the same node do not disturb each other.

use llmnode_model::{BoxError, BoxFuture, Category};

use super::attempt_loop::{self, Attempts, Plan, PlannedAttempt};
use super::context::CallContext;
use super::cx::Cx;
use super::failure::Failure;
use super::node::Exec;
use crate::error::NodeError;
use crate::ledger::{CallGuard, Degraded};
use crate::limits::Deadline;
use crate::settings::{Next, NodeKind, Resolved, Settings};

pub(super) async fn exec_with_attempts<N, S>(node: &N, cx: &Cx<'_, S>) -> Result<N::Output, NodeError>
where
    N: Exec<S>,
    S: ?Sized,
{
    let node_kind = NodeKind { fallback: true, ..NodeKind::of::<N>(None) };
    let mut own = TypedExec { node, state: cx.state, value: None };
    boxed(&mut own, node.settings(), node_kind, &cx.context).await?;
    // The loop succeeds only with a value.
    own.value.ok_or_else(|| NodeError::new(Category::ExecError, "no value was given"))
}

/// Proves once, instead of for every node, that the future is `Send`.
trait ErasedExec: Send {
    fn execute<'a>(&'a mut self, context: CallContext<'a>) -> BoxFuture<'a, Result<(), BoxError>>;

    fn fall_back<'a>(
        &'a mut self,
        error: NodeError,
        context: CallContext<'a>,
    ) -> BoxFuture<'a, Result<(), BoxError>>;
}

struct TypedExec<'r, N: Exec<S>, S: ?Sized> {
    node: &'r N,
    state: &'r S,
    value: Option<N::Output>,
}

impl<N: Exec<S>, S: ?Sized> ErasedExec for TypedExec<'_, N, S> {
    fn execute<'a>(&'a mut self, context: CallContext<'a>) -> BoxFuture<'a, Result<(), BoxError>> {
        let cx = Cx { context, state: self.state };
        Box::pin(async move {
            self.value = Some(self.node.exec(&cx).await?);
            Ok(())
        })
    }

    fn fall_back<'a>(
        &'a mut self,
        error: NodeError,
        context: CallContext<'a>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        let cx = Cx { context, state: self.state };
        Box::pin(async move {
            self.value = Some(self.node.exec_fallback(&cx, error).await?);
            Ok(())
        })
    }
}

fn boxed<'a>(
    node: &'a mut dyn ErasedExec,
    settings: &'a Settings,
    node_kind: NodeKind,
    context: &'a CallContext<'a>,
) -> BoxFuture<'a, Result<(), NodeError>> {
    Box::pin(async move {
        let call = context.call;
        let settings = Resolved::new([context.settings, &context.core.settings, settings], node_kind)?;
        if let Some(listener) = context.listener {
            listener.set_schema(None)?;
        }
        let own = settings.deadline.and_then(|given| Deadline::of_call(call, given));
        let plan = Plan::new(*context, settings, &own);
        let mut executing = ExecAttempts { context: plan.context, node, failed: 0 };
        let Err(ended) = attempt_loop::run(&plan, &mut executing).await else { return Ok(()) };
        let error = ended.before_fallback(call)?;
        let last = CallContext { deadline: context.deadline, ..executing.context };
        record_fallback(call, executing.node.fall_back(error, last).await)
    })
}

fn record_fallback(call: &CallGuard<'_>, outcome: Result<(), BoxError>) -> Result<(), NodeError> {
    let error = match outcome {
        Ok(()) => {
            call.degrade(Degraded::FallbackValue);
            return Ok(());
        }
        Err(error) => NodeError::of_execution(error),
    };
    // The record is complete only when the call ends.
    let own = error.record().is_some_and(|record| record.id == call.id);
    Err(if own { error.without_record() } else { error })
}

struct ExecAttempts<'r> {
    context: CallContext<'r>,
    node: &'r mut dyn ErasedExec,
    failed: u32,
}

impl Attempts for ExecAttempts<'_> {
    async fn once(&mut self, one: &PlannedAttempt) -> Result<(), Failure> {
        let CallContext { call, origin, .. } = self.context;
        if self.failed > 0 {
            call.begin_retry();
        }
        self.context.attempt = one.attempt;
        if let Some(origin) = origin {
            origin.restart_agents(call.depth);
        }
        let Err(error) = self.node.execute(self.context).await else { return Ok(()) };
        Err(Failure::from_exec_error(NodeError::of_execution(error)))
    }

    async fn failed(
        &mut self,
        one: &PlannedAttempt,
        failure: &mut Failure,
        _: &Next,
    ) -> Result<(), NodeError> {
        self.failed = self.failed.saturating_add(1);
        self.context.call.failed(self.failed, one.wait, failure.category, &failure.message);
        Ok(())
    }
}
