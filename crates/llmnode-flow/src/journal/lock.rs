//! One writer at a time: the operating system's lock on a file beside the journal.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::Path;

use llmnode_runtime::internal::files::{copy_permissions, create_new};

use super::error::JournalError;
use super::open::io_error;
use super::sidecar;

/// On a file of its own, since a rewrite replaces the journal. It is never deleted:
/// otherwise one writer could lock the old file, and another one the new.
pub(super) struct Lock(File);

impl Lock {
    /// Does not wait.
    pub(super) fn take(journal: &Path, like: &File) -> Result<Self, JournalError> {
        let path = sidecar::path(journal, ".lock");
        let file = open(&path, like).map_err(|source| io_error(journal, "locked", source))?;
        match file.try_lock() {
            Ok(()) => {
                let lock = Lock(file);
                lock.share(&path, like);
                Ok(lock)
            }
            Err(TryLockError::WouldBlock) => Err(JournalError::Locked {
                path: journal.to_owned(),
            }),
            Err(TryLockError::Error(source)) => Err(io_error(journal, "locked", source)),
        }
    }

    /// The journal's mode may have changed since. A file with content, or a link,
    /// belongs to someone else.
    fn share(&self, path: &Path, like: &File) {
        let is_empty_file =
            fs::symlink_metadata(path).is_ok_and(|there| there.is_file() && there.len() == 0);
        if is_empty_file && let Ok(like) = like.metadata() {
            // The lock works without these permissions.
            let _ = copy_permissions(&self.0, &like);
        }
    }
}

impl Drop for Lock {
    /// Closing is not enough: a child process that is being spawned at this moment
    /// has a handle to the file, too.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Creates it with the journal's mode. Nothing is ever written to it.
fn open(path: &Path, like: &File) -> io::Result<File> {
    match create_new(path, Some(&like.metadata()?)) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        linked => return linked,
    }
    // Opening a pipe would block.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other(format!(
            "{} is not a regular file",
            path.display()
        )));
    }
    OpenOptions::new().append(true).open(path)
}
