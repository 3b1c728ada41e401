//! Runs a step: prep, exec, post.

use std::future::Future;

use llmnode_model::internal::{catch_panic, catch_panic_async};
use llmnode_runtime::internal::ErrorInternals as _;
use llmnode_runtime::{Category, Node, NodeError};
use tracing::Instrument;

use super::cursor::{FlowCursor, Progress, panicked};
use super::outline::{OuterFlows, Outline};
use super::runnable::{Runnable, Startable};
use super::step::{PreparedStep, Step};
use super::step_error::step_error;

#[diagnostic::do_not_recommend]
impl<S, N> Runnable<S> for N
where
    S: Send + Sync,
    N: Step<S> + Send + 'static,
{
    type Action = N::Action;

    fn advance<'f>(
        mut flow: FlowCursor<'f, S>,
        prepared: Option<Self>,
    ) -> impl Future<Output = Result<Progress<N::Action>, NodeError>> + Send {
        let span = flow.begin_step(N::NAME);
        let course = async move {
            let node = match prepared {
                Some(node) => node,
                None => prep(flow.state).await?,
            };
            let output = executed(&mut flow, &node).await?;
            // Nothing is awaited from here to the next position: a dropped flow has
            // done all of a step, or nothing.
            post(node, output, flow.state).map(Progress::Done)
        };
        course.instrument(span)
    }

    fn outline_within(_: OuterFlows<'_>) -> Outline {
        N::step_outline()
    }
}

#[diagnostic::do_not_recommend]
impl<S, N> Startable<S> for N
where
    S: Send + Sync,
    N: Step<S> + Send + 'static,
{
}

pub(super) async fn executed<S, N>(
    flow: &mut FlowCursor<'_, S>,
    node: &N,
) -> Result<<N as Node>::Output, NodeError>
where
    S: Send + Sync,
    N: PreparedStep<S> + Send + 'static,
{
    match flow.happened.take() {
        Some(happened) => happened.output::<N>(flow.at),
        None => Ok(flow.call(node).await?.value),
    }
}

pub(super) async fn prep<S, N: Step<S>>(state: &S) -> Result<N, NodeError> {
    match catch_panic_async(|| N::prep(state)).await {
        Ok(prepared) => prepared.map_err(|error| {
            step_error(Category::PrepError, "prep failed", error).of_node(N::NAME)
        }),
        Err(message) => Err(panicked("prep", message).of_node(N::NAME)),
    }
}

pub(super) fn post<S, N: PreparedStep<S>>(
    node: N,
    output: <N as Node>::Output,
    state: &mut S,
) -> Result<N::Action, NodeError> {
    let name = node.name();
    match catch_panic(|| node.post(output, state)) {
        Ok(action) => action
            .map_err(|error| step_error(Category::Aborted, "post failed", error).of_node(name)),
        Err(message) => Err(panicked("post", message).of_node(name)),
    }
}
