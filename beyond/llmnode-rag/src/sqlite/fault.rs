//! Turns errors of SQLite into ours.

use std::path::Path;

use llmnode_runtime::{Category, NodeError};
use rusqlite::ErrorCode;

pub(super) enum Fault {
    Sql(rusqlite::Error),
    Node(NodeError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Fault::Sql(error)
    }
}

impl From<NodeError> for Fault {
    fn from(error: NodeError) -> Self {
        Fault::Node(error)
    }
}

impl Fault {
    pub(super) fn config_error(message: String) -> Self {
        Fault::Node(NodeError::new(Category::ConfigError, message))
    }

    pub(super) fn into_node_error(self, path: &Path) -> NodeError {
        match self {
            Fault::Sql(error) => from_sqlite(path, error),
            Fault::Node(error) => error,
        }
    }
}

fn from_sqlite(path: &Path, error: rusqlite::Error) -> NodeError {
    let path = path.display();
    let (category, message) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            Category::ExecError,
            format!(
                "{path}: another process has been writing for 5 seconds; try again, or let one process write"
            ),
        ),
        Some(ErrorCode::NotADatabase) => (
            Category::ConfigError,
            format!("{path} is not a file of SQLite; name another one"),
        ),
        Some(ErrorCode::CannotOpen) => (
            Category::ExecError,
            format!("{path} cannot be opened; check that its folder is there and may be written"),
        ),
        Some(ErrorCode::ReadOnly) => (
            Category::ExecError,
            format!("{path} cannot be written; check its permissions"),
        ),
        Some(ErrorCode::DiskFull) => (
            Category::ExecError,
            format!("{path} cannot grow: the disk is full"),
        ),
        Some(ErrorCode::DatabaseCorrupt) => (
            Category::ExecError,
            format!("{path} is damaged; delete it and write the documents again"),
        ),
        _ => (Category::ExecError, format!("{path}: {error}")),
    };
    NodeError::new(category, message).with_source(error)
}
