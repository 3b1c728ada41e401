//! Errors of the program's own functions around a step.

use llmnode_runtime::internal::ErrorInternals as _;
use llmnode_runtime::{BoxError, Category, NodeError};

pub(super) fn step_error(
    category: Category,
    what: impl std::fmt::Display,
    error: BoxError,
) -> NodeError {
    match NodeError::downcast(error) {
        Ok(error) => error,
        Err(error) => NodeError::new(category, format!("{what}: {error}")).with_source(error),
    }
}
