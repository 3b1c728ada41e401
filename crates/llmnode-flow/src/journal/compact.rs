//! Rewrites a journal file without the states that later ones supersede.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use llmnode_model::internal::fnv;
use llmnode_runtime::Message;
use llmnode_runtime::internal::files::create_new;

use super::error::JournalError;
use super::line::{self, LineContent};
use super::open::{OpenFile, Superseded, io_error, run_of, scan};
use super::record::{Answered, Entry, Record, Started, Stepped, ToolEnded};
use super::sidecar;

/// Fewer superseded bytes are not worth a rewrite.
const MIN_REWRITE_BYTES: u64 = 1 << 20;

/// How many names to try for the new file, since files of others are never touched.
const NAMES: usize = 4;

/// A bound for the first line of a new file, which has no state.
const FIRST_LINE: u64 = 16 << 20;

impl OpenFile {
    /// Rewrites the file where that pays. The last record must be that of a step.
    pub(super) fn tidy(&mut self, ended: bool) {
        let Some(end) = self.end else { return };
        let Superseded {
            bytes,
            rewrite_threshold,
            answers,
            ..
        } = self.superseded;
        // The journal of a flow that has ended must not keep what models and tools returned.
        let erases = ended && answers;
        if !erases
            && (bytes < MIN_REWRITE_BYTES.max(rewrite_threshold)
                || bytes < (end.valid_len - bytes.min(end.valid_len)).saturating_mul(4))
        {
            return;
        }
        if let Err(error) = self.compact() {
            // The old file still serves; it is only longer.
            tracing::warn!(target: "llmnode::journal", path = %self.path.display(), "not rewritten: {error}");
            self.superseded.rewrite_threshold = bytes.saturating_mul(2);
        }
    }

    /// On an error, the old file is unchanged.
    fn compact(&mut self) -> Result<(), JournalError> {
        let (beside, file) = self.create()?;
        let renamed = self.copy_to(&beside, &file).and_then(|length| {
            let renamed = fs::rename(&beside, &self.path);
            renamed
                .map_err(|source| io_error(&self.path, "replaced", source))
                .map(|()| length)
        });
        let length = renamed.inspect_err(|_| drop(fs::remove_file(&beside)))?;
        // The old file has been replaced, so its handle leads to a file without a name.
        self.file = Arc::new(file);
        self.renamed = true;
        self.end = self.end.map(|end| end.moved_to(length));
        self.superseded = self.superseded.dropped();
        Ok(())
    }

    fn create(&self) -> Result<(PathBuf, File), JournalError> {
        let journal = self
            .file
            .metadata()
            .map_err(|source| io_error(&self.path, "written", source))?;
        for path in self.names() {
            if self.is_leftover(&path) {
                fs::remove_file(&path).map_err(|source| io_error(&path, "written", source))?;
            }
            match create_new(&path, Some(&journal)) {
                Ok(file) => return Ok((path, file)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(source) => return Err(io_error(&path, "written", source)),
            }
        }
        let taken = io::Error::other("other files have all names for a new file beside it");
        Err(io_error(&self.path, "replaced", taken))
    }

    fn names(&self) -> impl Iterator<Item = PathBuf> {
        let run = self
            .run
            .as_ref()
            .map(|run| format!("{:016x}", fnv(run.as_bytes())));
        let suffixes = run.into_iter().flat_map(|run| {
            (0..NAMES).map(move |n| match n {
                0 => format!(".{run}.compacting"),
                n => format!(".{run}-{n}.compacting"),
            })
        });
        suffixes.map(|suffix| sidecar::path(&self.path, &suffix))
    }

    /// Removes what a process of this run left that died during a rewrite.
    pub(super) fn remove_leftovers(&self) {
        for path in self.names().filter(|path| self.is_leftover(path)) {
            if let Err(error) = fs::remove_file(&path) {
                tracing::warn!(target: "llmnode::journal", path = %path.display(), "left by a crash, and not removed: {error}");
            }
        }
    }

    /// Anything that is not a journal of this run is left alone: also a link, or a
    /// file with a cut first line.
    fn is_leftover(&self, path: &Path) -> bool {
        let regular = fs::symlink_metadata(path).is_ok_and(|there| there.is_file());
        regular
            && first_record(path)
                .as_ref()
                .and_then(run_of)
                .is_some_and(|run| Some(run) == self.run)
    }

    /// Only the last step keeps its state. Returns the length of the copy.
    fn copy_to(&self, beside: &Path, file: &File) -> Result<u64, JournalError> {
        let last = self.end.map_or(0, |end| end.records.saturating_sub(1));
        let mut to = BufWriter::new(file);
        let mut n = 0;
        let mut length = 0;
        scan(&self.path, &self.file, &mut |json, line| {
            let keeps = n == last || !is_prunable(&line.record);
            let bytes = if keeps {
                line::frame(json)
            } else {
                line::write(n, line.unix_ms, &pruned(line.record))?
            };
            n += 1;
            length += bytes.len() as u64;
            to.write_all(&bytes)?;
            // If this process dies, its first line identifies the file as a leftover.
            if n == 1 { to.flush() } else { Ok(()) }
        })?;
        to.flush()
            .map_err(|source| io_error(beside, "written", source))?;
        // Without this, a power cut could leave an empty file in the place of a
        // whole one, whatever `Fsync` says.
        file.sync_all()
            .map_err(|source| io_error(beside, "written", source))?;
        Ok(length)
    }
}

fn first_record(path: &Path) -> Option<Record> {
    let mut bytes = Vec::new();
    BufReader::new(File::open(path).ok()?.take(FIRST_LINE))
        .read_until(b'\n', &mut bytes)
        .ok()?;
    bytes.pop_if(|byte| *byte == b'\n')?;
    match line::look(&bytes, true) {
        LineContent::Complete(json) => line::read(json, 0).ok().map(|line| line.record),
        _ => None,
    }
}

/// Whether a record has content that is needless once a later step is completed.
fn is_prunable(record: &Record) -> bool {
    use Entry::{Answered, Compacted, Started, Stepped, ToolEnded};
    matches!(
        record.0,
        Started(_) | Stepped(_) | Answered(_) | Compacted(_) | ToolEnded(_)
    )
}

/// The record itself stays in its place: records are counted.
fn pruned(record: Record) -> Record {
    Record(match record.0 {
        Entry::Answered(Answered { attempt, .. }) => Entry::Answered(Answered {
            attempt,
            ..Answered::default()
        }),
        Entry::Compacted(mut compacted) => {
            compacted.compaction.edits.clear();
            Entry::Compacted(compacted)
        }
        Entry::ToolEnded(ended) => Entry::ToolEnded(Box::new(ToolEnded {
            call: String::new(),
            result: Message::tool("", ""),
            failed: false,
            ..*ended
        })),
        Entry::Started(started) => Entry::Started(Started {
            state: None,
            ..started
        }),
        Entry::Stepped(step) => Entry::Stepped(Stepped {
            state: None,
            ..step
        }),
        other => other,
    })
}
