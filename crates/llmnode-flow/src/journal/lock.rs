//! One writer at a time: the operating system's lock on a file beside the journal.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use super::error::JournalError;
use super::open::io_error;

/// Locks the journal for one writer, until the file is dropped or the process ends. It does not wait.
///
/// The lock is on a file of its own, since the journal itself is replaced when it is written anew. That file stays: were it
/// deleted, one writer could lock the old file, and another one the new.
pub(super) fn lock(journal: &Path) -> Result<File, JournalError> {
    let mut name = journal.as_os_str().to_owned();
    name.push(".lock");
    let failed = |source| io_error(journal, "locked", source);
    // Nothing is ever written to it.
    let file = OpenOptions::new().append(true).create(true).open(name).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(JournalError::Locked { path: journal.to_owned() }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}
