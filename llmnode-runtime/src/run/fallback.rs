//! The value that takes the place of an answer.

use llmnode_model::{BoxError, BoxFuture};
use serde::Serialize;
use serde_json::Value;

use crate::error::NodeError;
use crate::into_outcome::IntoOutcome;
use crate::node::Node;

/// A fallback value under way to its place.
pub type FallbackFuture<'a> = BoxFuture<'a, Result<(), BoxError>>;

/// The expansion of `fallback = path` on a node without a state. Since the function
/// is called here, and not in the expansion, the compiler points at the path if its
/// signature is wrong.
pub fn fallback<'a, N: Node, Value, Kind>(
    node: &'a N,
    error: &'a NodeError,
    path: impl FnOnce(&'a N, &'a NodeError) -> Value,
    to: &'a mut Option<N::Output>,
) -> FallbackFuture<'a>
where
    Value: IntoOutcome<N::Output, BoxError, Kind, Pending: Send> + 'a,
{
    let value = path(node, error);
    placed(value.into_outcome(), to)
}

/// The same, on a node with a state.
pub fn fallback_with_state<'a, N: Node, State: ?Sized, Value, Kind>(
    node: &'a N,
    state: &'a State,
    error: &'a NodeError,
    path: impl FnOnce(&'a N, &'a State, &'a NodeError) -> Value,
    to: &'a mut Option<N::Output>,
) -> FallbackFuture<'a>
where
    Value: IntoOutcome<N::Output, BoxError, Kind, Pending: Send> + 'a,
{
    let value = path(node, state, error);
    placed(value.into_outcome(), to)
}

fn placed<'a, T: Send>(
    value: impl Future<Output = Result<T, BoxError>> + Send + 'a,
    to: &'a mut Option<T>,
) -> FallbackFuture<'a> {
    Box::pin(async move {
        *to = Some(value.await?);
        Ok(())
    })
}

/// A fallback value that may have a text. Method resolution takes the first of the
/// two traits that fits.
#[derive(Debug)]
pub struct FallbackProbe<'a, T>(pub &'a T);

/// First choice: a value that can be serialized.
pub trait FallbackJson {
    /// The value as JSON, or a text as it is.
    fn __fallback_text(&self) -> Option<String>;
}

impl<T: Serialize> FallbackJson for &FallbackProbe<'_, T> {
    fn __fallback_text(&self) -> Option<String> {
        let value = serde_json::to_value(self.0).ok()?;
        match value {
            Value::String(text) => Some(text),
            value => Some(value.to_string()),
        }
    }
}

/// Last choice: another value.
pub trait FallbackWithoutText {
    /// No text.
    fn __fallback_text(&self) -> Option<String>;
}

impl<T> FallbackWithoutText for FallbackProbe<'_, T> {
    fn __fallback_text(&self) -> Option<String> {
        None
    }
}
