//! Errors of SQLite in our words.

use std::path::Path;

use llmnode_runtime::{Category, NodeError};
use rusqlite::ErrorCode;

/// An error that came up with this file.
pub(super) fn fault(path: &Path, error: rusqlite::Error) -> NodeError {
    let path = path.display();
    let (category, message) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            Category::ExecError,
            format!(
                "{path}: another process has been writing for 5 seconds; try again, or let one process write"
            ),
        ),
        Some(ErrorCode::NotADatabase) => {
            (Category::ConfigError, format!("{path} is not a file of SQLite; name another one"))
        }
        Some(ErrorCode::CannotOpen) => (
            Category::ExecError,
            format!("{path} cannot be opened; check that its folder is there and may be written"),
        ),
        Some(ErrorCode::ReadOnly) => {
            (Category::ExecError, format!("{path} cannot be written; check its permissions"))
        }
        Some(ErrorCode::DiskFull) => (Category::ExecError, format!("{path} cannot grow: the disk is full")),
        Some(ErrorCode::DatabaseCorrupt) => {
            (Category::ExecError, format!("{path} is damaged; delete it and write the documents again"))
        }
        _ => (Category::ExecError, format!("{path}: {error}")),
    };
    NodeError::new(category, message).with_source(error)
}
