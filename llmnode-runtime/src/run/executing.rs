//! A node that asks no model itself, as the attempt loop tries it: one try is one execution.
//! All counts belong to one call, so parallel calls do not disturb each other, even of the same node.

use super::attempts::{self, Plan, Tried, Try};
use super::cx::Cx;
use super::failure::Failure;
use super::node::Exec;
use crate::category::Category;
use crate::error::NodeError;
use crate::ledger::{CallScope, Degraded};
use crate::limits::Deadline;
use crate::settings::{Nature, Next, Resolved, Settings};
use crate::validate::Attempt;
use crate::{BoxError, BoxFuture};

/// Executes a node that asks no model itself, again after an error as often as `attempts` says.
pub(super) async fn executed<N, S>(node: &N, cx: &Cx<'_, S>) -> Result<N::Output, NodeError>
where
    N: Exec<S>,
    S: ?Sized,
{
    let nature = Nature { fallback: true, ..Nature::of::<N>(None) };
    let mut own = Own { node, cx: cx.on(cx.state), value: None };
    boxed(&mut own, node.settings(), nature, &cx.on(&())).await?;
    // It succeeds only with a value.
    own.value.ok_or_else(|| NodeError::new(Category::ExecError, "no value was given"))
}

/// A node without its types: the box proves once that the future is `Send`, and not for every node.
trait Executed: Send {
    /// Executes it, and keeps the output.
    fn execute(&mut self, attempt: Attempt, ends: Option<&Deadline>) -> BoxFuture<'_, Result<(), BoxError>>;

    /// Keeps the fallback value as the output. The call's own deadline does not apply to it.
    fn fall_back(&mut self, error: NodeError, ends: Option<&Deadline>)
    -> BoxFuture<'_, Result<(), BoxError>>;
}

struct Own<'r, N: Exec<S>, S: ?Sized> {
    node: &'r N,
    cx: Cx<'r, S>,
    value: Option<N::Output>,
}

impl<N: Exec<S>, S: ?Sized> Executed for Own<'_, N, S> {
    fn execute(&mut self, attempt: Attempt, ends: Option<&Deadline>) -> BoxFuture<'_, Result<(), BoxError>> {
        self.cx.attempt = attempt;
        self.cx.deadline = ends.cloned();
        if let Some(origin) = self.cx.origin {
            origin.executes(self.cx.scope.depth);
        }
        Box::pin(async {
            self.value = Some(self.node.exec(&self.cx).await?);
            Ok(())
        })
    }

    fn fall_back(
        &mut self,
        error: NodeError,
        ends: Option<&Deadline>,
    ) -> BoxFuture<'_, Result<(), BoxError>> {
        self.cx.deadline = ends.cloned();
        Box::pin(async {
            self.value = Some(self.node.exec_fallback(&self.cx, error).await?);
            Ok(())
        })
    }
}

fn boxed<'a>(
    node: &'a mut dyn Executed,
    settings: &'a Settings,
    nature: Nature,
    cx: &'a Cx<'_, ()>,
) -> BoxFuture<'a, Result<(), NodeError>> {
    Box::pin(async move {
        let call = cx.scope;
        let settings = Resolved::new([cx.settings, &cx.core.settings, settings], nature)?;
        if let Some(listener) = cx.listener {
            listener.expects(None)?;
        }
        let plan = Plan::new(cx, cx.limits, settings);
        let mut executing = Executing { call, node, failed: 0, ends: plan.ends.as_ref() };
        let Err(ended) = attempts::run(&plan, &mut executing).await else { return Ok(()) };
        let error = ended.before_fallback(call)?;
        fallen(call, executing.node.fall_back(error, cx.deadline.as_ref()).await)
    })
}

/// The fallback's result is the call's result.
fn fallen(call: &CallScope<'_>, outcome: Result<(), BoxError>) -> Result<(), NodeError> {
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

struct Executing<'r> {
    call: &'r CallScope<'r>,
    node: &'r mut dyn Executed,
    /// How many tries have failed.
    failed: u32,
    ends: Option<&'r Deadline>,
}

impl Tried for Executing<'_> {
    async fn once(&mut self, one: &Try) -> Result<(), Failure> {
        if self.failed > 0 {
            self.call.tries_again();
        }
        let Err(error) = self.node.execute(one.attempt, self.ends).await else { return Ok(()) };
        Err(Failure::executed(NodeError::of_execution(error)))
    }

    async fn failed(&mut self, one: &Try, failure: &mut Failure, _: &Next) -> Result<(), NodeError> {
        self.failed = self.failed.saturating_add(1);
        self.call.failed(self.failed, one.wait, failure.category, &failure.message);
        Ok(())
    }
}
