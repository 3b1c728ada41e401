//! How a step is made from the state: by the expressions of its fields, or by a function.

use std::future::Future;

use llmnode_runtime::internal::IntoOutcome;
use llmnode_runtime::{BoxError, BoxFuture, Category};

use super::step_error::step_error;

/// A step made by the expressions of its fields: generated for `#[prep(..)]`.
#[expect(
    clippy::manual_async_fn,
    reason = "of an `async fn` the compiler asks again for every node whether it is `Send`"
)]
pub fn prepared<'a, N, S: ?Sized + Sync>(
    state: &'a S,
    make: impl FnOnce(&'a S) -> Result<N, BoxError> + Send,
) -> impl Future<Output = Result<N, BoxError>> + Send {
    // Not captured: in a `move` closure, rustc does not suggest to clone.
    async move { make(state) }
}

/// Generated for `prep = path`. The function is called here, and not in generated
/// code, so that the compiler points at the path and says which signature it
/// expects.
pub fn prep<'a, N, S, Value, Kind>(
    state: &'a S,
    path: impl FnOnce(&'a S) -> Value,
) -> BoxFuture<'a, Result<N, BoxError>>
where
    N: 'a,
    S: ?Sized,
    Value: IntoOutcome<N, BoxError, Kind, Pending: Send> + 'a,
{
    path(state).into_outcome()
}

/// Generated for `batch = path`.
pub fn batch<'a, N, S, Value, Kind>(
    state: &'a S,
    path: impl FnOnce(&'a S) -> Value,
) -> BoxFuture<'a, Result<Vec<N>, BoxError>>
where
    N: 'a,
    S: ?Sized,
    Value: IntoOutcome<Vec<N>, BoxError, Kind, Pending: Send> + 'a,
{
    let prepared = path(state).into_outcome();
    Box::pin(async move {
        prepared
            .await
            .map_err(|error| step_error(Category::PrepError, "batch failed", error).into())
    })
}
