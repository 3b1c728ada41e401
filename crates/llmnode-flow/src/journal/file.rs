//! A journal in a file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, io};

use llmnode_runtime::BoxFuture;

use super::error::JournalError;
use super::history::History;
use super::journal::Journal;
use super::lock::Lock;
use super::open::{Fsync, OpenFile, io_error, scan};
use super::record::{Entry, Record};

/// A journal in a file: each record is a line, with a checksum before its JSON.
/// Clones are handles to one file. It has states, and the answers of models and
/// results of tools of the step under way, unencrypted, so only its owner can read
/// a new file. The answers of a completed step are erased when the file is
/// rewritten, at the flow's end at the latest. See
/// [`without_answers`](JournalFile::without_answers).
///
/// If a crash cuts a line short, the next writer drops it. Any other damage is an
/// error that names the line. A file is never cleared: to start again, use another
/// name or delete it. **One writer**: while a flow runs, it holds the operating
/// system's lock on a file beside the journal, `NAME.lock`, which stays there.
/// Another flow with the same journal, in this process or in another one, is
/// refused with a `config_error`. It can resume once the first flow has ended or
/// its process has died. Network file systems may not keep such locks.
///
/// **Size**: superseded states are dropped when they are 1 MiB at least and four
/// fifths of the file. It is then rewritten beside itself, as `NAME.RUN.compacting`
/// with a name for the run, with the same permissions, and renamed. The usage
/// stays: some 300 bytes for each attempt and each call.
///
/// ```no_run
/// # mod llmnode { pub use llmnode_runtime::*; pub use llmnode_flow::{flow, journal}; }
/// use llmnode::flow::{Flow, RunExt};
/// use llmnode::journal::{Fsync, JournalFile};
///
/// # async fn example(mut run: llmnode::Run, flow: Flow<()>) -> Result<(), Box<dyn std::error::Error>> {
/// let journal = JournalFile::open("order-17.journal")?.fsync(Fsync::EachStep);
/// run.flow(&flow).resume(journal).await?;
/// # Ok(())
/// # }
/// ```
pub struct JournalFile {
    file: Arc<Mutex<OpenFile>>,
    /// Held by the handle that a flow writes with.
    lock: Option<Lock>,
}

/// The lock stays with the handle that holds it.
impl Clone for JournalFile {
    fn clone(&self) -> Self {
        JournalFile {
            file: Arc::clone(&self.file),
            lock: None,
        }
    }
}

impl JournalFile {
    /// Opens a file, or creates it.
    ///
    /// # Errors
    /// It cannot be opened for reading and writing.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, JournalError> {
        let file = Arc::new(Mutex::new(OpenFile::open(path.into())?));
        Ok(JournalFile { file, lock: None })
    }

    /// Sets when what was written is synced to the disk.
    #[must_use]
    pub fn fsync(self, fsync: Fsync) -> Self {
        self.opened().fsync = fsync;
        self
    }

    /// Keeps no answers of models and no results of tools. A step that is repeated
    /// then asks again for everything, and so does a map.
    #[must_use]
    pub fn without_answers(self) -> Self {
        self.opened().without_answers = true;
        self
    }

    /// Reads the journal, even while a flow writes to it.
    ///
    /// # Errors
    /// The file cannot be read, is not a journal, or is damaged.
    pub fn history(&self) -> Result<History, JournalError> {
        let mut history = History::default();
        let path = self.opened().path.clone();
        // Opened by name: another process may have replaced the file.
        let file = File::open(&path).map_err(|source| io_error(&path, "opened", source))?;
        scan(&path, &file, &mut |_, line| {
            history.take(line.record);
            Ok(())
        })?;
        history.close();
        Ok(history)
    }

    fn opened(&self) -> MutexGuard<'_, OpenFile> {
        // Nothing panics while it holds the lock; and if it did, the file is read
        // again before it is written.
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn acquire_writer_lock(&mut self) -> Result<(), JournalError> {
        if self.lock.is_none() {
            let mut open = self.opened();
            let lock = Lock::take(&open.path, &open.file)?;
            open.reopen()?;
            drop(open);
            self.lock = Some(lock);
        }
        Ok(())
    }

    fn write(&self, record: &Record) -> Result<Option<PendingSync>, JournalError> {
        let mut open = self.opened();
        let figures;
        let record = match &record.0 {
            Entry::ToolEnded(_) if open.without_answers => return Ok(None),
            Entry::Answered(answered) if open.without_answers => {
                let Some(attempt) = &answered.attempt else {
                    return Ok(None);
                };
                figures = Entry::AttemptEnded(attempt.clone()).into();
                &figures
            }
            _ => record,
        };
        open.write(record)?;
        if let Entry::Stepped(step) = &record.0 {
            open.tidy(step.action.is_some());
        }
        let started = matches!(record.0, Entry::Started(_) | Entry::MapStarted(_));
        let forced = match open.fsync {
            Fsync::EachRecord => true,
            Fsync::Never => false,
            Fsync::EachStep => {
                // Within a flow, answers need to survive a crash of the process
                // only, not of the machine.
                let of_map = open.run.is_none()
                    && matches!(record.0, Entry::Answered(_) | Entry::ToolEnded(_));
                let vital = matches!(
                    record.0,
                    Entry::Stepped(_)
                        | Entry::CallBegan(_)
                        | Entry::BatchPlanned(_)
                        | Entry::BatchUploaded(_)
                        | Entry::BatchCreated(_)
                        | Entry::BatchCancelled(_)
                        | Entry::BatchEnded(_)
                );
                started || vital || (of_map && open.is_due(&record.0))
            }
        };
        Ok(forced.then(|| PendingSync {
            path: open.path.clone(),
            file: Arc::clone(&open.file),
            name: started || open.renamed,
        }))
    }
}

struct PendingSync {
    path: PathBuf,
    file: Arc<File>,
    /// Also the file's name, which is an entry in its directory.
    name: bool,
}

impl PendingSync {
    fn sync(&self) -> Result<(), JournalError> {
        let outcome = self.file.sync_data().and_then(|()| {
            if self.name {
                sync_name(&self.path)
            } else {
                Ok(())
            }
        });
        outcome.map_err(|source| io_error(&self.path, "synced to the disk", source))
    }
}

impl Journal for JournalFile {
    fn read<'j>(
        &'j mut self,
        each: &'j mut (dyn FnMut(Record) + Send),
    ) -> BoxFuture<'j, Result<(), JournalError>> {
        Box::pin(async move {
            self.acquire_writer_lock()?;
            let mut open = self.opened();
            open.read(each)?;
            open.remove_leftovers();
            Ok(())
        })
    }

    /// The write itself does not wait: wherever the call is dropped, the record is
    /// written whole or not begun.
    fn append<'j>(&'j mut self, record: &'j Record) -> BoxFuture<'j, Result<(), JournalError>> {
        Box::pin(async move {
            self.acquire_writer_lock()?;
            let Some(forced) = self.write(record)? else {
                return Ok(());
            };
            let name = forced.name;
            let synced = tokio::task::spawn_blocking(move || forced.sync());
            synced
                .await
                .unwrap_or_else(|error| Err(JournalError::Other(error.into())))?;
            if name {
                // Until the name is synced, each synced record syncs it as well.
                self.opened().renamed = false;
            }
            Ok(())
        })
    }
}

fn sync_name(path: &Path) -> io::Result<()> {
    // Elsewhere directories cannot be opened, and need not be.
    if cfg!(unix) {
        let directory = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        File::open(directory.unwrap_or(".".as_ref()))?.sync_all()?;
    }
    Ok(())
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::journal::sidecar;

    fn record(json: &str) -> Record {
        serde_json::from_str(json).unwrap()
    }

    fn step() -> Record {
        let state = "x".repeat(400_000);
        record(&format!(
            r#"{{"stepped": {{"left": [], "at": ["A"], "state": "{state}"}}}}"#
        ))
    }

    #[tokio::test]
    async fn a_directory_that_cannot_be_forced_to_the_disk_is_an_error_and_the_new_file_goes_on() {
        let folder =
            std::env::temp_dir().join(format!("llmnode-journal-unsynced-{}", std::process::id()));
        let (path, away) = (folder.join("flow.journal"), folder.with_extension("away"));
        std::fs::create_dir_all(&folder).unwrap();
        let mut journal = JournalFile::open(&path).unwrap().fsync(Fsync::Never);
        let outline = r#"{"flow": ["research", []]}"#;
        let started = format!(
            r#"{{"started": {{"id": "1", "fingerprint": "2", "outline": {outline}, "at": [], "state": 0}}}}"#
        );
        journal.append(&record(&started)).await.unwrap();
        let mut steps = 0;
        while !journal.opened().renamed {
            journal.append(&step()).await.unwrap();
            steps += 1;
            assert!(steps < 20, "it is written anew before that");
        }
        assert!(sidecar::is_same_file(&path, &journal.opened().file).unwrap());

        // The next record that is forced forces the name too.
        journal = journal.fsync(Fsync::EachStep);
        let forced = journal.write(&step()).unwrap().unwrap();
        std::fs::rename(&folder, &away).unwrap();
        let error = forced.sync().unwrap_err();
        std::fs::rename(&away, &folder).unwrap();
        assert!(
            error
                .to_string()
                .contains("flow.journal cannot be synced to the disk: "),
            "{error}"
        );
        assert!(journal.opened().renamed);
        journal.append(&step()).await.unwrap();
        assert!(!journal.opened().renamed);
        assert_eq!(journal.history().unwrap().steps(), steps + 2);
        std::fs::remove_dir_all(folder).unwrap();
    }

    /// A file that is as large as its file system allows takes no more, as on a full disk.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_record_that_was_not_written_and_is_cut_off_costs_no_reading() {
        let path =
            std::env::temp_dir().join(format!("llmnode-journal-full-{}", std::process::id()));
        let journal = JournalFile::open(&path).unwrap();
        journal.write(&step()).unwrap();
        let mut largest = 0;
        for bit in (0..63).rev() {
            let length = largest | 1_u64 << bit;
            if journal.opened().file.set_len(length).is_ok() {
                largest = length;
            }
        }
        journal.opened().file.set_len(largest).unwrap();
        let end = journal.opened().end.map(|end| end.moved_to(largest));
        journal.opened().end = end;
        for _ in 0..2 {
            let error = journal.write(&step()).err().unwrap().to_string();
            assert!(error.contains("cannot be written"), "{error}");
            // Reading it would take for ever.
            assert_eq!(journal.opened().end.unwrap().valid_len, largest);
        }
        std::fs::remove_file(path).unwrap();
    }
}
