//! Why a journal cannot be read or written.

use std::io;
use std::path::PathBuf;

use llmnode_runtime::{BoxError, Category, FormatError, NodeError};

/// Why a journal cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// It is not a journal, or it was written by a newer llmnode.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The file does not begin like a journal.
    #[error(
        "the file {} is not a journal, and was not changed; name another file, which need not \
         exist yet",
        path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A line is not what was written.
    #[error(
        "line {line} of the journal {} is damaged: {fault}. {}",
        path.display(),
        remedy(*whole)
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, the first one is 1.
        line: u64,
        /// How many bytes the lines before it have.
        whole: u64,
        /// What is wrong with it.
        fault: String,
    },
    /// Another flow or map is writing to it, in this process or in another one.
    #[error(
        "another flow or map is writing to the journal {}; wait until it has ended, or use another \
         journal",
        path.display()
    )]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// Another writer has changed it since it was read.
    #[error(
        "another writer has taken over the journal {}: it has changed since this program read or \
         wrote it",
        path.display()
    )]
    TakenOver {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read or written.
    #[error("the journal {} cannot be {verb}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// `"opened"`, `"locked"`, `"read"`, `"written"`, `"replaced"`, `"synced to the disk"`.
        verb: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// The error of another kind of journal.
    #[error(transparent)]
    Other(BoxError),
}

/// A wrong journal is a mistake of the program; a write that fails is not.
impl From<JournalError> for NodeError {
    fn from(error: JournalError) -> Self {
        let category = match error {
            JournalError::Format(_)
            | JournalError::Foreign { .. }
            | JournalError::Damaged { .. }
            | JournalError::Locked { .. } => Category::ConfigError,
            _ => Category::Aborted,
        };
        NodeError::new(category, error.to_string()).with_source(error)
    }
}

fn remedy(whole: u64) -> String {
    match whole {
        0 => "Nothing was changed; put back a copy of the file, or start again with another one"
            .to_owned(),
        _ => format!(
            "The lines before it are whole, and nothing was changed; put back a copy of the file, \
             or cut it to its first {whole} bytes to go on from there"
        ),
    }
}
