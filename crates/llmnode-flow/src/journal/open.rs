//! An open journal file: where its records end, and how more are appended.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use llmnode_runtime::FormatError;
use llmnode_runtime::ext::read_format;

use super::error::JournalError;
use super::line::{self, FORMAT, Line, LineContent, VERSION};
use super::record::{Answered, Entry, Record};
use super::recorder::now;
use super::sidecar;

/// When what was written is also synced to the disk (`fsync`), so that it survives
/// a crash of the whole machine. What was written survives a crash of the program
/// in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fsync {
    /// With each step that is completed, with the start of the flow, before a node
    /// is called that must not be executed again, and with each answer of a map.
    #[default]
    EachStep,
    /// With each record: also before each request goes out, and as soon as its answer is there.
    EachRecord,
    /// Never: the system decides when it writes to the disk.
    Never,
}

pub(super) struct OpenFile {
    pub(super) path: PathBuf,
    pub(super) file: Arc<File>,
    /// The run that the file has, as far as it was read or written here.
    pub(super) run: Option<String>,
    /// The file was replaced, and its name is not synced to the disk yet.
    pub(super) renamed: bool,
    pub(super) fsync: Fsync,
    pub(super) without_answers: bool,
    /// `None`: the file has to be read before anything is written.
    pub(super) end: Option<End>,
    pub(super) superseded: Superseded,
    /// Answers of batches since the last one that was synced.
    pub(super) unsynced: u32,
}

/// Results of a batch can be read once more, so that not each of them has to be synced by itself.
const UNSYNCED: u32 = 1_000;

#[derive(Clone, Copy)]
pub(super) struct End {
    pub(super) records: u64,
    /// The length up to the last whole record.
    pub(super) valid_len: u64,
    /// The length of the file, including a torn line.
    length: u64,
    /// The last line is whole but for its line break.
    missing_newline: bool,
}

/// Content that no one needs since later states are there.
#[derive(Clone, Copy, Default)]
pub(super) struct Superseded {
    pub(super) bytes: u64,
    newest: u64,
    pub(super) answers: bool,
    /// No rewrite below this many bytes: raised after a failed one.
    pub(super) rewrite_threshold: u64,
}

impl End {
    pub(super) fn moved_to(self, length: u64) -> Self {
        End {
            records: self.records,
            valid_len: length,
            length,
            missing_newline: false,
        }
    }
}

impl Superseded {
    pub(super) fn dropped(self) -> Self {
        Superseded {
            bytes: 0,
            rewrite_threshold: 0,
            answers: false,
            ..self
        }
    }

    fn see(&mut self, record: &Record) {
        let state = match &record.0 {
            Entry::Started(started) => started.state.as_ref(),
            Entry::Stepped(step) => step.state.as_ref(),
            Entry::Answered(Answered {
                request,
                answer,
                calls,
                ..
            }) => {
                self.answers |= !request.is_empty();
                let of_calls: usize = calls.iter().map(|call| call.arguments.len()).sum();
                self.bytes = self.bytes.saturating_add((answer.len() + of_calls) as u64);
                None
            }
            Entry::Compacted(compacted) => {
                let edits = &compacted.compaction.edits;
                self.answers |= !edits.is_empty();
                let by = edits.iter().flat_map(|edit| &edit.by);
                let bytes: usize = by.map(|message| message.content.len()).sum();
                self.bytes = self.bytes.saturating_add(bytes as u64);
                None
            }
            Entry::ToolEnded(ended) => {
                self.answers |= !ended.call.is_empty();
                self.bytes = self.bytes.saturating_add(ended.result.content.len() as u64);
                None
            }
            _ => None,
        };
        if let Some(state) = state {
            self.bytes = self.bytes.saturating_add(self.newest);
            self.newest = state.get().len() as u64;
        }
    }
}

impl OpenFile {
    pub(super) fn open(path: PathBuf) -> Result<Self, JournalError> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        // Only for the owner: it has answers of models and results of tools.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let opened = options.open(&path);
        let regular = opened.and_then(|file| {
            let kind = file.metadata()?.file_type();
            // Reading a device may never end.
            if kind.is_file() {
                Ok(file)
            } else {
                Err(io::Error::other("it is not a regular file"))
            }
        });
        let file = regular.map_err(|source| io_error(&path, "opened", source))?;
        // Links are resolved, so that the file itself is locked and replaced.
        let path = path
            .canonicalize()
            .map_err(|source| io_error(&path, "opened", source))?;
        Ok(OpenFile {
            path,
            file: Arc::new(file),
            run: None,
            renamed: false,
            fsync: Fsync::default(),
            without_answers: false,
            end: None,
            superseded: Superseded::default(),
            unsynced: 0,
        })
    }

    /// Whether an answer is to be synced now.
    pub(super) fn is_due(&mut self, entry: &Entry) -> bool {
        let attempt = match entry {
            Entry::Answered(answered) => answered.attempt.as_deref(),
            _ => None,
        };
        let in_batch = attempt.is_some_and(|attempt| attempt.batch.is_some());
        if in_batch && self.unsynced < UNSYNCED {
            self.unsynced += 1;
            return false;
        }
        self.unsynced = 0;
        true
    }

    /// The previous writer may have replaced the file.
    pub(super) fn reopen(&mut self) -> Result<(), JournalError> {
        self.file = OpenFile::open(self.path.clone())?.file;
        self.end = None;
        Ok(())
    }

    pub(super) fn read(&mut self, each: &mut dyn FnMut(Record)) -> Result<(), JournalError> {
        self.superseded = Superseded {
            rewrite_threshold: self.superseded.rewrite_threshold,
            ..Superseded::default()
        };
        let mut superseded = self.superseded;
        let mut run = None;
        let end = scan(&self.path, &self.file, &mut |_, line| {
            superseded.see(&line.record);
            run = run.take().or_else(|| run_of(&line.record));
            each(line.record);
            Ok(())
        })?;
        (self.superseded, self.run, self.end) = (superseded, run, Some(end));
        Ok(())
    }

    pub(super) fn write(&mut self, record: &Record) -> Result<(), JournalError> {
        if self.end.is_none() {
            self.read(&mut |_| {})?;
        }
        let Some(end) = self.end else { return Ok(()) };
        self.check_unchanged(end)?;
        let line = line::write(end.records, now(), record)
            .map_err(|error| io_error(&self.path, "written", error.into()))?;
        let line = if end.missing_newline {
            [b"\n".as_slice(), &line].concat()
        } else {
            line
        };
        if end.length > end.valid_len {
            self.file
                .set_len(end.valid_len)
                .map_err(|source| io_error(&self.path, "written", source))?;
        }
        if let Err(source) = (&*self.file).write_all(&line) {
            // A reader drops a torn line, so it does no harm if it cannot be cut off
            // here. If it is, the file need not be read before the next write: on a
            // full disk, each row of a map would else read all of it.
            let was_cut = self.file.set_len(end.valid_len).is_ok();
            self.end = was_cut.then_some(End {
                length: end.valid_len,
                ..end
            });
            return Err(io_error(&self.path, "written", source));
        }
        let valid_len = end.valid_len + line.len() as u64;
        self.end = Some(End {
            records: end.records + 1,
            valid_len,
            length: valid_len,
            missing_newline: false,
        });
        self.superseded.see(record);
        self.run = self.run.take().or_else(|| run_of(record));
        Ok(())
    }

    fn check_unchanged(&self, end: End) -> Result<(), JournalError> {
        let there = std::fs::metadata(&self.path)
            .map_err(|source| io_error(&self.path, "written", source))?;
        let same = there.len() == end.length
            && sidecar::is_same_file(&self.path, &self.file).unwrap_or(false);
        if same {
            Ok(())
        } else {
            Err(JournalError::TakenOver {
                path: self.path.clone(),
            })
        }
    }
}

pub(super) fn run_of(record: &Record) -> Option<String> {
    match &record.0 {
        Entry::Started(started) => Some(started.id.clone()),
        _ => None,
    }
}

pub(super) fn io_error(path: &Path, verb: &'static str, source: io::Error) -> JournalError {
    JournalError::Io {
        path: path.to_owned(),
        verb,
        source,
    }
}

/// Reads lines from the start, and gives the records of whole ones to `each`, until
/// the end or a line that is torn: the last one, if the process died while it
/// wrote. A line with other content than its frame says is no crash's doing, and
/// fails.
pub(super) fn scan(
    path: &Path,
    mut file: &File,
    each: &mut dyn FnMut(&str, Line<Record>) -> io::Result<()>,
) -> Result<End, JournalError> {
    file.rewind()
        .map_err(|source| io_error(path, "read", source))?;
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    let mut bytes = Vec::new();
    let mut end = End {
        records: 0,
        valid_len: 0,
        length: 0,
        missing_newline: false,
    };
    loop {
        bytes.clear();
        let read = reader
            .read_until(b'\n', &mut bytes)
            .map_err(|source| io_error(path, "read", source))?;
        end.length += read as u64;
        let ended = bytes.pop_if(|byte| *byte == b'\n').is_some();
        match line::look(&bytes, ended) {
            _ if read == 0 => return Ok(end),
            LineContent::Torn if end.records == 0 && !line::may_begin(&bytes) => {
                return Err(JournalError::Foreign {
                    path: path.to_owned(),
                });
            }
            LineContent::Torn => return Ok(end),
            LineContent::Damaged(_) if end.records == 0 && line::is_foreign(&bytes) => {
                return Err(JournalError::Foreign {
                    path: path.to_owned(),
                });
            }
            LineContent::Damaged(fault) => return Err(damaged(path, end, fault.to_owned())),
            LineContent::Complete(json) => {
                if end.records == 0 {
                    check_format(json)?;
                }
                let line =
                    line::read(json, end.records).map_err(|fault| damaged(path, end, fault))?;
                each(json, line).map_err(|source| io_error(path, "read", source))?;
                end = End {
                    records: end.records + 1,
                    valid_len: end.valid_len + 18 + json.len() as u64 + u64::from(ended),
                    length: end.length,
                    missing_newline: !ended,
                };
            }
        }
    }
}

/// The line after `end` is damaged.
fn damaged(path: &Path, end: End, fault: String) -> JournalError {
    JournalError::Damaged {
        path: path.to_owned(),
        line: end.records + 1,
        whole: end.valid_len,
        fault,
    }
}

fn check_format(json: &str) -> Result<(), FormatError> {
    read_format::<serde::de::IgnoredAny>(json, FORMAT, VERSION).map(drop)
}
