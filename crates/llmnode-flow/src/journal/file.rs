//! A journal in a file.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use llmnode_runtime::BoxFuture;

use super::error::JournalError;
use super::history::History;
use super::interface::Journal;
use super::line;
use super::open::{Fsync, OpenFile, Superseded, io_error, scan};
use super::record::{Record, Started, Stepped};

/// Superseded states of fewer bytes stay where they are.
const BEARABLE: u64 = 1 << 20;

/// A journal in a file: each record is a line, with a checksum before its JSON. Clones are handles to one file.
///
/// The states in it are as readable as the program's own: who must not read the one must not read the other.
///
/// A line whose writing a crash cut short is dropped by the next writer. What is damaged otherwise is an error that
/// names the line. A file is never cleared: to begin anew, take another name, or delete it.
///
/// **One writer**: whoever resumes a journal takes it over. Should the process before it live on, its flow ends with `aborted`
/// at its next record, because the file has changed.
///
/// **Size**: superseded states are dropped when they are 1 MiB at least and four fifths of the file; it is then written anew
/// beside itself, and renamed. What was spent stays, some 300 bytes for each attempt and call.
#[derive(Clone)]
pub struct JournalFile(Arc<Mutex<OpenFile>>);

impl JournalFile {
    /// Opens a file, or makes it.
    ///
    /// # Errors
    /// It cannot be opened for reading and writing.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, JournalError> {
        Ok(JournalFile(Arc::new(Mutex::new(OpenFile::open(path.into())?))))
    }

    /// Sets when what was written is forced to the disk.
    #[must_use]
    pub fn fsync(self, fsync: Fsync) -> Self {
        self.lock().fsync = fsync;
        self
    }

    /// Reads what the journal tells, also while a flow writes to it.
    ///
    /// # Errors
    /// The file cannot be read, is no journal, or is damaged.
    pub fn history(&self) -> Result<History, JournalError> {
        let mut history = History::default();
        let open = self.lock();
        scan(&open.path, &open.file, &mut |_, record| {
            history.take(record);
            Ok(())
        })?;
        history.close();
        Ok(history)
    }

    fn lock(&self) -> MutexGuard<'_, OpenFile> {
        // Nothing panics while it holds the lock; and if it did, the file is read again before it is written.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a record, and gives the file if it has to be forced to the disk.
    fn write(&self, record: &Record) -> Result<Option<(PathBuf, Arc<File>)>, JournalError> {
        let mut open = self.lock();
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
        Box::pin(async move { self.lock().read(each) })
    }

    /// The write itself does not wait, so it is done, or not begun, wherever the call around it is dropped.
    fn append<'j>(&'j mut self, record: &'j Record) -> BoxFuture<'j, Result<(), JournalError>> {
        Box::pin(async move {
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
fn sync_name(path: &std::path::Path) -> io::Result<()> {
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
        let outcome = self.copy_to(&beside).and_then(|length| {
            let failed = |source| io_error(&self.path, "written", source);
            fs::rename(&beside, &self.path).map_err(failed)?;
            if self.fsync != Fsync::Never {
                sync_name(&self.path).map_err(failed)?;
            }
            // From here on the old file is nobody's: if the new one cannot be opened, the next record finds it replaced.
            self.file = OpenFile::open(self.path.clone())?.file;
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
        name.push(".new");
        name.into()
    }

    /// Copies all records, of all steps but the last without their states. Gives the length of the copy.
    fn copy_to(&self, beside: &std::path::Path) -> Result<u64, JournalError> {
        let failed = |source| io_error(beside, "written", source);
        let last = self.end.map_or(0, |end| end.records.saturating_sub(1));
        let mut to = BufWriter::new(File::create(beside).map_err(failed)?);
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
        let open = self.lock();
        f.debug_struct("JournalFile")
            .field("path", &open.path)
            .field("fsync", &open.fsync)
            .finish_non_exhaustive()
    }
}
