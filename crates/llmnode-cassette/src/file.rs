//! The entries of a cassette, and its file.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::{fs, io};

use llmnode_runtime::ext::read_format;
use llmnode_runtime::internal::files::write_atomically;
use llmnode_runtime::{Category, NodeError};
use serde::{Deserialize, Serialize};

use crate::entry::Entry;
use crate::request_key::RequestKey;

const FORMAT: &str = "llmnode/cassette";
const VERSION: u64 = 2;
/// Smaller files are written after each entry.
const SMALL_FILE: usize = 64;
/// The format stands within so many bytes from the beginning.
const LONGEST_HEAD: u64 = 256;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileContents<E> {
    format: String,
    version: u64,
    /// For requests that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    entries: E,
}

#[derive(Debug, Default)]
pub(crate) struct CassetteFile {
    pub(crate) model: Option<String>,
    /// By request, sorted by occurrence.
    entries: HashMap<String, Vec<RecordedEntry>>,
    /// Since the file was opened.
    request_count: HashMap<String, usize>,
    len: usize,
    unsaved: usize,
}

#[derive(Debug)]
struct RecordedEntry {
    occurrence: usize,
    request_key: RequestKey,
    entry: Entry,
}

pub(crate) enum Lookup {
    Entry(Box<Entry>),
    /// With the number of this request's entries.
    Missing(usize),
}

impl CassetteFile {
    pub(crate) fn open(path: &Path) -> Result<Option<CassetteFile>, NodeError> {
        let json = match fs::read_to_string(path) {
            Ok(json) => json,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(file_error(path, "cannot be read", &error)),
        };
        let form: FileContents<Vec<Entry>> = read_format(&json, FORMAT, VERSION)
            .map_err(|error| file_error(path, "cannot be read", &error))?;
        let mut file = CassetteFile {
            model: form.model,
            ..CassetteFile::default()
        };
        for entry in form.entries {
            let request_key = RequestKey::from_json(entry.request.clone());
            let recorded = file.entries.entry(request_key.key()).or_default();
            recorded.push(RecordedEntry {
                occurrence: recorded.len(),
                request_key,
                entry,
            });
            file.len += 1;
        }
        Ok(Some(file))
    }

    /// Refuses to replace a file that is no cassette: its path was probably
    /// mistyped. One of any version, or one that was cut off, may be recorded anew.
    pub(crate) fn check_replaceable(path: &Path) -> Result<(), NodeError> {
        // What cannot be read fails when it is written, with a reason of its own.
        let Ok(file) = fs::File::open(path) else {
            return Ok(());
        };
        let mut begin = Vec::new();
        if file.take(LONGEST_HEAD).read_to_end(&mut begin).is_err() {
            return Ok(());
        }
        let head = String::from_utf8_lossy(&begin);
        if head.trim().is_empty() || (head.contains("\"format\"") && head.contains(FORMAT)) {
            return Ok(());
        }
        let why =
            "it is no cassette, and recording would replace it; delete it, or choose another path";
        Err(file_error(path, "is not recorded", &why))
    }

    /// Also returns which occurrence of the request this is.
    pub(crate) fn next(&mut self, request_key: &RequestKey) -> (Lookup, usize) {
        let key = request_key.key();
        let recorded = self
            .entries
            .get(&key)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let request_count = self.request_count.entry(key).or_default();
        let occurrence = *request_count;
        *request_count += 1;
        let found = recorded
            .binary_search_by_key(&occurrence, |kept| kept.occurrence)
            .ok()
            .map(|at| &recorded[at]);
        (
            found.map_or(Lookup::Missing(recorded.len()), |kept| {
                Lookup::Entry(Box::new(kept.entry.clone()))
            }),
            occurrence,
        )
    }

    pub(crate) fn keep(&mut self, request_key: RequestKey, occurrence: usize, entry: Entry) {
        let recorded = self.entries.entry(request_key.key()).or_default();
        let kept = RecordedEntry {
            occurrence,
            request_key,
            entry,
        };
        match recorded.binary_search_by_key(&occurrence, |kept| kept.occurrence) {
            Ok(at) => recorded[at] = kept,
            Err(at) => {
                recorded.insert(at, kept);
                self.len += 1;
            }
        }
        self.unsaved += 1;
    }

    /// Writing the file after each entry would take quadratic time.
    pub(crate) fn should_save(&self) -> bool {
        self.len <= SMALL_FILE || self.unsaved >= self.len / 4
    }

    pub(crate) fn is_saved(&self) -> bool {
        self.unsaved == 0
    }

    pub(crate) fn distinct_requests(&self) -> impl Iterator<Item = &RequestKey> {
        self.entries
            .values()
            .filter_map(|recorded| recorded.first())
            .map(|kept| &kept.request_key)
    }

    pub(crate) fn save(&mut self, path: &Path) -> Result<(), NodeError> {
        let mut keys: Vec<_> = self.entries.keys().collect();
        keys.sort_unstable();
        let entries: Vec<_> = keys
            .into_iter()
            .flat_map(|key| &self.entries[key])
            .map(|kept| &kept.entry)
            .collect();
        let form = FileContents {
            format: FORMAT.to_owned(),
            version: VERSION,
            model: self.model.clone(),
            entries,
        };
        let written = serde_json::to_string_pretty(&form)
            .map_err(|error| file_error(path, "cannot be written", &error))?;
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        folder
            .and_then(|()| write_atomically(path, (written + "\n").as_bytes()))
            .map_err(|error| file_error(path, "cannot be written", &error))?;
        self.unsaved = 0;
        Ok(())
    }
}

pub(crate) fn file_error(path: &Path, what: &str, why: &dyn std::fmt::Display) -> NodeError {
    NodeError::new(
        Category::ConfigError,
        format!("the cassette {} {what}: {why}", path.display()),
    )
}
