//! A node on a state in an `Arc`: what `#[llm_node]` adds for a run that shares its state.

use std::future::Future;
use std::ops::Deref;

use llmnode_model::BoxError;

use super::cx::Cx;
use super::node::Exec;

/// Executes a node on the state inside the run's `Arc`.
///
/// # Errors
/// Those of [`Exec::exec`].
#[expect(
    clippy::manual_async_fn,
    reason = "of an `async fn` the compiler asks again for every node whether it is `Send`"
)]
pub fn exec_on_arc<N, P>(
    node: &N,
    cx: &Cx<'_, P>,
) -> impl Future<Output = Result<N::Output, BoxError>> + Send
where
    P: Deref + Sync,
    N: Exec<P::Target>,
{
    async move { node.exec(&cx.on(&**cx.state)).await }
}
