//! Turns errors of SQLite into ours.

use std::path::Path;

use llmnode_runtime::{Category, NodeError};
use rusqlite::ErrorCode;

/// An error of SQLite in words that say what to do.
pub(super) fn fault(path: &Path, error: rusqlite::Error) -> NodeError {
    let path = path.display();
    let message = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            format!("{path}: another process has been writing for 5 seconds; try again")
        }
        Some(ErrorCode::CannotOpen) => {
            format!("{path} cannot be opened; check that its folder is there and may be written")
        }
        Some(ErrorCode::ReadOnly) => {
            format!("{path} cannot be written; check its permissions")
        }
        Some(ErrorCode::DiskFull) => format!("{path} cannot grow: the disk is full"),
        Some(ErrorCode::DatabaseCorrupt) => {
            format!("{path} is damaged; take a copy of it, and run SQLite's `.recover`")
        }
        Some(ErrorCode::NotADatabase) => {
            let why = format!("{path} is not a file of SQLite; name another one");
            return NodeError::new(Category::ConfigError, why).with_source(error);
        }
        _ => format!("{path}: {error}"),
    };
    NodeError::new(Category::Aborted, message).with_source(error)
}
