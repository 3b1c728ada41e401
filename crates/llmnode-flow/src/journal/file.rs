//! A journal in a file.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use llmnode_runtime::BoxFuture;

use super::error::JournalError;
use super::history::History;
use super::interface::Journal;
use super::open::{Fsync, OpenFile, Superseded, io_error, scan};
use super::record::{Record, Started, Stepped};
use super::{line, lock};

/// Superseded states of fewer bytes stay where they are.
const BEARABLE: u64 = 1 << 20;

/// A journal in a file: each record is a line, with a checksum before its JSON. Clones are handles to one file.
///
/// The states in it are as readable as the program's own: who must not read the one must not read the other.
///
/// A line whose writing a crash cut short is dropped by the next writer. What is damaged otherwise is an error that
/// names the line. A file is never cleared: to begin anew, take another name, or delete it.
///
/// **One writer**: as long as a flow runs, it holds the operating system's lock on a file beside the journal, `NAME.lock`,
/// which stays there. Another flow with the same journal, in this process or in another one, is refused with a
/// `config_error`. It goes on from the journal once the first flow has ended or its process has died. Network file
/// systems may not keep such locks.
///
/// **Size**: superseded states are dropped when they are 1 MiB at least and four fifths of the file; it is then written anew
/// beside itself, with the same permissions, and renamed. What was spent stays, some 300 bytes for each attempt and call.
pub struct JournalFile {
    file: Arc<Mutex<OpenFile>>,
    /// Held by the handle that a flow writes with.
    lock: Option<File>,
}

/// Another handle to the same file. The lock stays with the flow that holds it.
impl Clone for JournalFile {
    fn clone(&self) -> Self {
        JournalFile { file: Arc::clone(&self.file), lock: None }
    }
}

impl JournalFile {
    /// Opens a file, or makes it.
    ///
    /// # Errors
    /// It cannot be opened for reading and writing.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, JournalError> {
        let file = Arc::new(Mutex::new(OpenFile::open(path.into())?));
        Ok(JournalFile { file, lock: None })
    }

    /// Sets when what was written is forced to the disk.
    #[must_use]
    pub fn fsync(self, fsync: Fsync) -> Self {
        self.opened().fsync = fsync;
        self
    }

    /// Reads what the journal tells, also while a flow writes to it.
    ///
    /// # Errors
    /// The file cannot be read, is no journal, or is damaged.
    pub fn history(&self) -> Result<History, JournalError> {
        let mut history = History::default();
        let open = self.opened();
        scan(&open.path, &open.file, &mut |_, record| {
            history.take(record);
            Ok(())
        })?;
        history.close();
        Ok(history)
    }

    fn opened(&self) -> MutexGuard<'_, OpenFile> {
        // Nothing panics while it holds the lock; and if it did, the file is read again before it is written.
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes sure that nobody else writes.
    fn be_the_writer(&mut self) -> Result<(), JournalError> {
        if self.lock.is_none() {
            let path = self.opened().path.clone();
            self.lock = Some(lock::lock(&path)?);
        }
        Ok(())
    }

    /// Writes a record, and gives the file if it has to be forced to the disk.
    fn write(&self, record: &Record) -> Result<Option<(PathBuf, Arc<File>)>, JournalError> {
        let mut open = self.opened();
        open.write(record)?;
        if matches!(record, Record::Stepped(_)) {
            open.tidy();
        }
        let forced = match open.fsync {
            Fsync::EachRecord => true,
            Fsync::Never => false,
            Fsync::EachStep => {
                matches!(record, Record::Stepped(_) | Record::Started(_) | Record::CallBegan(_))
            }
        };
        Ok(forced.then(|| (open.path.clone(), Arc::clone(&open.file))))
    }
}

impl Journal for JournalFile {
    fn read<'j>(
        &'j mut self,
        each: &'j mut (dyn FnMut(Record) + Send),
    ) -> BoxFuture<'j, Result<(), JournalError>> {
        Box::pin(async move {
            self.be_the_writer()?;
            // The writer before may have put another file in its place.
            self.opened().reopen()?;
            self.opened().read(each)
        })
    }

    /// The write itself does not wait, so it is done, or not begun, wherever the call around it is dropped.
    fn append<'j>(&'j mut self, record: &'j Record) -> BoxFuture<'j, Result<(), JournalError>> {
        Box::pin(async move {
            self.be_the_writer()?;
            let Some((path, file)) = self.write(record)? else { return Ok(()) };
            let new = matches!(record, Record::Started(_));
            let forced = tokio::task::spawn_blocking(move || {
                let outcome = file.sync_data().and_then(|()| if new { sync_name(&path) } else { Ok(()) });
                outcome.map_err(|source| io_error(&path, "written", source))
            });
            forced.await.unwrap_or_else(|error| Err(JournalError::Other(error.into())))
        })
    }
}

/// Forces a file's name to the disk, which stands in its directory.
fn sync_name(path: &Path) -> io::Result<()> {
    // Elsewhere directories cannot be opened, and need not be.
    if cfg!(unix) {
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        File::open(directory.unwrap_or(".".as_ref()))?.sync_all()?;
    }
    Ok(())
}

impl OpenFile {
    /// Writes the file anew without superseded states, where that pays. The last record is that of a step.
    fn tidy(&mut self) {
        let Some(end) = self.end else { return };
        let Superseded { bytes, bearable, .. } = self.superseded;
        if bytes < BEARABLE.max(bearable) || bytes < (end.whole - bytes.min(end.whole)).saturating_mul(4) {
            return;
        }
        if let Err(error) = self.compact() {
            // The file as it is serves as well; it is only longer.
            tracing::warn!(target: "llmnode::journal", path = %self.path.display(), "not written anew: {error}");
            self.superseded.bearable = bytes.saturating_mul(2);
        }
    }

    fn compact(&mut self) -> Result<(), JournalError> {
        let beside = self.beside();
        let failed = |source| io_error(&beside, "written", source);
        let file = self.create(&beside).map_err(failed)?;
        let outcome = self.copy_to(&beside, file).and_then(|length| {
            fs::rename(&beside, &self.path).map_err(failed)?;
            if self.fsync != Fsync::Never {
                sync_name(&self.path).map_err(failed)?;
            }
            // From here on the old file is nobody's: if the new one cannot be opened, the next record finds it replaced.
            self.reopen()?;
            self.end = self.end.map(|end| end.moved_to(length));
            self.superseded = self.superseded.dropped();
            Ok(())
        });
        if outcome.is_err() {
            let _ = fs::remove_file(&beside);
        }
        outcome
    }

    /// The name of the file that is to take this one's place.
    fn beside(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".compacting");
        name.into()
    }

    /// Makes that file, with the permissions of this one from the first moment. What a crash left of an earlier one is
    /// removed; what is no journal, or a link, is somebody else's.
    fn create(&self, beside: &Path) -> io::Result<File> {
        if fs::symlink_metadata(beside).is_ok_and(|there| there.is_file()) {
            let mut begin = Vec::new();
            File::open(beside)?.take(256).read_to_end(&mut begin)?;
            if line::may_begin(&begin) {
                fs::remove_file(beside)?;
            }
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let like = fs::metadata(&self.path)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
            let file = options.mode(like.mode() & 0o7777).open(beside)?;
            // Only a privileged process may give a file to another owner.
            let _ = fchown(&file, Some(like.uid()), Some(like.gid()));
            // The process's mask may have taken some away.
            file.set_permissions(like.permissions())?;
            Ok(file)
        }
        #[cfg(not(unix))]
        {
            let file = options.open(beside)?;
            file.set_permissions(like.permissions())?;
            Ok(file)
        }
    }

    /// Copies all records, of all steps but the last without their states. Gives the length of the copy.
    fn copy_to(&self, beside: &Path, file: File) -> Result<u64, JournalError> {
        let failed = |source| io_error(beside, "written", source);
        let last = self.end.map_or(0, |end| end.records.saturating_sub(1));
        let mut to = BufWriter::new(file);
        let (mut n, mut length) = (0, 0);
        scan(&self.path, &self.file, &mut |json, record| {
            let keeps = n == last || !matches!(record, Record::Started(_) | Record::Stepped(_));
            let line = if keeps { line::frame(json) } else { line::write(n, &stateless(record))? };
            (n, length) = (n + 1, length + line.len() as u64);
            to.write_all(&line)
        })?;
        let file = to.into_inner().map_err(|error| failed(error.into_error()))?;
        if self.fsync != Fsync::Never {
            file.sync_all().map_err(failed)?;
        }
        Ok(length)
    }
}

fn stateless(record: Record) -> Record {
    match record {
        Record::Started(started) => Record::Started(Started { state: None, ..started }),
        Record::Stepped(step) => Record::Stepped(Stepped { state: None, ..step }),
        other => other,
    }
}

impl fmt::Debug for JournalFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.opened();
        f.debug_struct("JournalFile")
            .field("path", &open.path)
            .field("fsync", &open.fsync)
            .finish_non_exhaustive()
    }
}
