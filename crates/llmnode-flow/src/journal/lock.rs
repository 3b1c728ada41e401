//! One writer at a time: the operating system's lock on a file beside the journal.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::Path;

use super::beside;
use super::error::JournalError;
use super::open::io_error;

/// How often it is tried anew if somebody else deletes the lock file at that moment.
const TRIES: u32 = 8;

/// The lock of the journal's one writer, until this is dropped or the process ends.
///
/// It is on a file of its own, since the journal itself is replaced when it is written anew. That file stays: were it
/// deleted, one writer could lock the old file, and another one the new.
pub(super) struct Lock(File);

impl Lock {
    /// Locks the journal. It does not wait.
    pub(super) fn take(journal: &Path, like: &File) -> Result<Self, JournalError> {
        let failed = |source| io_error(journal, "locked", source);
        let path = beside::path(journal, ".lock");
        for _ in 0..TRIES {
            let Some(file) = open(&path, like).map_err(failed)? else { continue };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(JournalError::Locked { path: journal.to_owned() });
                }
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            let lock = Lock(file);
            // One that was deleted since it was opened locks nobody out.
            if beside::is_at(&path, &lock.0).unwrap_or(false) {
                lock.share(&path, like);
                return Ok(lock);
            }
        }
        Err(failed(io::Error::other("its lock file is deleted again and again")))
    }

    /// The journal's mode may have changed since the lock file was made. What is not empty, or a link, is somebody else's.
    fn share(&self, path: &Path, like: &File) {
        let own = fs::symlink_metadata(path).is_ok_and(|there| there.is_file() && there.len() == 0);
        if own && let Ok(like) = like.metadata() {
            // It locks out other writers all the same.
            let _ = beside::share(&self.0, &like);
        }
    }
}

impl Drop for Lock {
    /// To close the file would not do: a child process that is being started at this moment has a handle to it as well.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Opens the lock file, or makes it, with the journal's mode. Nothing is ever written to it. `None`: it was deleted
/// at this moment.
fn open(path: &Path, like: &File) -> io::Result<Option<File>> {
    let like = like.metadata()?;
    match beside::create(path, &like) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        made => return made.map(Some),
    }
    let opened = fs::metadata(path).and_then(|there| {
        // To open a pipe would wait.
        if !there.is_file() {
            return Err(io::Error::other(format!("{} is not a regular file", path.display())));
        }
        OpenOptions::new().append(true).open(path)
    });
    match opened {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some),
    }
}
