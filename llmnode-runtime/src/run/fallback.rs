//! The value that takes the place of an answer.

use super::typed_node::ErasedNode;
use crate::error::NodeError;
use crate::into_outcome::IntoOutcome;
use crate::ledger::{CallGuard, Degraded};
use crate::panics::catch_panic_async;
use crate::{BoxError, BoxFuture, Category, Node};

/// A fallback value under way.
pub type FallbackFuture<'a, T> = BoxFuture<'a, Result<T, BoxError>>;

/// The expansion of `fallback = path` on a node without a state. Since the function is called here, and not in the
/// expansion, the compiler points at the path if its signature is wrong.
pub fn fallback<'a, N: Node, Value, Kind>(
    node: &'a N,
    error: &'a NodeError,
    path: impl FnOnce(&'a N, &'a NodeError) -> Value,
) -> FallbackFuture<'a, N::Output>
where
    Value: IntoOutcome<N::Output, BoxError, Kind, Pending: Send> + 'a,
{
    path(node, error).into_outcome()
}

/// The same, on a node with a state.
pub fn fallback_with_state<'a, N: Node, State: ?Sized, Value, Kind>(
    node: &'a N,
    state: &'a State,
    error: &'a NodeError,
    path: impl FnOnce(&'a N, &'a State, &'a NodeError) -> Value,
) -> FallbackFuture<'a, N::Output>
where
    Value: IntoOutcome<N::Output, BoxError, Kind, Pending: Send> + 'a,
{
    path(node, state, error).into_outcome()
}

/// Asks the node for the value that replaces this failure, and records that the output is a fallback.
pub(super) async fn fall_back(
    call: &CallGuard<'_>,
    error: &NodeError,
    asked: &mut dyn ErasedNode<'_>,
) -> Option<Result<(), NodeError>> {
    let value = match catch_panic_async(|| asked.fall_back(error)).await {
        Ok(None) => return None,
        Ok(Some(value)) => value,
        Err(said) => {
            let message = format!("the fallback panicked: {said}; it was called after {error}");
            return Some(Err(NodeError::new(Category::Panic, message)));
        }
    };
    Some(match value {
        Ok(()) => {
            call.degrade(Degraded::FallbackValue);
            Ok(())
        }
        Err(fault) => {
            let message = format!("{}; its fallback failed too: {fault}", error.message());
            let category = error.category();
            Err(NodeError::new(category, message).with_retry_after(error.retry_after()).with_source(fault))
        }
    })
}
