//! The entries of a cassette, and its file.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use llmnode_runtime::internal::read_format;
use llmnode_runtime::{Category, NodeError};
use serde::{Deserialize, Serialize};

use crate::asked::Asked;
use crate::entry::Entry;

const FORMAT: &str = "llmnode/cassette";
const VERSION: u64 = 2;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form<E> {
    format: String,
    version: u64,
    /// The id of the model for requests that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    entries: E,
}

/// The entries of a cassette.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    /// The id of the model for requests that name none.
    pub(crate) model: Option<String>,
    /// By their requests; those of one request in the order in which it was made.
    entries: HashMap<String, Vec<Kept>>,
    /// How often each request was made since the tape was opened.
    made: HashMap<String, usize>,
}

#[derive(Debug)]
struct Kept {
    /// Which time it was made.
    place: usize,
    asked: Asked,
    entry: Entry,
}

/// What a tape has for a request.
pub(crate) enum Found {
    Entry(Box<Entry>),
    /// So many entries were given before this; 0: the request is unknown.
    Missing(usize),
}

impl Tape {
    /// Reads a file. `None`: there is none.
    pub(crate) fn open(path: &Path) -> Result<Option<Tape>, NodeError> {
        let json = match fs::read_to_string(path) {
            Ok(json) => json,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(fault(path, "cannot be read", &error)),
        };
        let form: Form<Vec<Entry>> =
            read_format(&json, FORMAT, VERSION).map_err(|error| fault(path, "cannot be read", &error))?;
        let mut tape = Tape { model: form.model, ..Tape::default() };
        for entry in form.entries {
            let asked = Asked::read(entry.request.clone());
            let known = tape.entries.entry(asked.key()).or_default();
            known.push(Kept { place: known.len(), asked, entry });
        }
        Ok(Some(tape))
    }

    /// The entry for the next time that this request is made, and which time that is.
    pub(crate) fn next(&mut self, asked: &Asked) -> (Found, usize) {
        let key = asked.key();
        let known = self.entries.get(&key).map(Vec::as_slice).unwrap_or_default();
        let made = self.made.entry(key).or_default();
        let place = *made;
        *made += 1;
        let found = known.iter().find(|kept| kept.place == place);
        (found.map_or(Found::Missing(known.len()), |kept| Found::Entry(Box::new(kept.entry.clone()))), place)
    }

    pub(crate) fn keep(&mut self, asked: Asked, place: usize, entry: Entry) {
        let known = self.entries.entry(asked.key()).or_default();
        known.retain(|kept| kept.place != place);
        known.push(Kept { place, asked, entry });
        known.sort_by_key(|kept| kept.place);
    }

    pub(crate) fn asked(&self) -> impl Iterator<Item = &Asked> {
        self.entries.values().filter_map(|known| known.first()).map(|kept| &kept.asked)
    }

    /// Writes the file as a whole: to another one beside it, which then takes its place.
    pub(crate) fn save(&self, path: &Path) -> Result<(), NodeError> {
        let mut keys: Vec<_> = self.entries.keys().collect();
        keys.sort_unstable();
        let entries: Vec<_> =
            keys.into_iter().flat_map(|key| &self.entries[key]).map(|kept| &kept.entry).collect();
        let form = Form { format: FORMAT.to_owned(), version: VERSION, model: self.model.clone(), entries };
        let written =
            serde_json::to_string_pretty(&form).map_err(|error| fault(path, "cannot be written", &error))?;
        replace(path, &(written + "\n")).map_err(|error| fault(path, "cannot be written", &error))
    }
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = beside(path);
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, path));
    written.inspect_err(|_| drop(fs::remove_file(&beside)))
}

/// A file in the same folder, so that it can be renamed. Nobody else writes it.
fn beside(path: &Path) -> PathBuf {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{}.writing", std::process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed)));
    path.with_file_name(name)
}

pub(crate) fn fault(path: &Path, what: &str, why: &dyn std::fmt::Display) -> NodeError {
    NodeError::new(Category::ConfigError, format!("the cassette {} {what}: {why}", path.display()))
}
