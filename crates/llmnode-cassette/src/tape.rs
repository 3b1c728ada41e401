//! The entries of a cassette, and its file.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use llmnode_runtime::internal::{read_format, replace};
use llmnode_runtime::{Category, NodeError};
use serde::{Deserialize, Serialize};

use crate::asked::Asked;
use crate::entry::Entry;

const FORMAT: &str = "llmnode/cassette";
const VERSION: u64 = 2;
/// A file of so many entries is written after each.
const SMALL: usize = 64;

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
    len: usize,
    /// How many entries the file does not have yet.
    unsaved: usize,
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
            tape.len += 1;
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
        let found = known.binary_search_by_key(&place, |kept| kept.place).ok().map(|at| &known[at]);
        (found.map_or(Found::Missing(known.len()), |kept| Found::Entry(Box::new(kept.entry.clone()))), place)
    }

    pub(crate) fn keep(&mut self, asked: Asked, place: usize, entry: Entry) {
        let known = self.entries.entry(asked.key()).or_default();
        let kept = Kept { place, asked, entry };
        match known.binary_search_by_key(&place, |kept| kept.place) {
            Ok(at) => known[at] = kept,
            Err(at) => {
                known.insert(at, kept);
                self.len += 1;
            }
        }
        self.unsaved += 1;
    }

    /// Whether the file is due: the whole of it after each entry would take time with the square of their number.
    pub(crate) fn is_due(&self) -> bool {
        self.len <= SMALL || self.unsaved >= self.len / 4
    }

    pub(crate) fn is_saved(&self) -> bool {
        self.unsaved == 0
    }

    pub(crate) fn asked(&self) -> impl Iterator<Item = &Asked> {
        self.entries.values().filter_map(|known| known.first()).map(|kept| &kept.asked)
    }

    /// Writes the file as a whole: to another one beside it, which then takes its place.
    pub(crate) fn save(&mut self, path: &Path) -> Result<(), NodeError> {
        let mut keys: Vec<_> = self.entries.keys().collect();
        keys.sort_unstable();
        let entries: Vec<_> =
            keys.into_iter().flat_map(|key| &self.entries[key]).map(|kept| &kept.entry).collect();
        let form = Form { format: FORMAT.to_owned(), version: VERSION, model: self.model.clone(), entries };
        let written =
            serde_json::to_string_pretty(&form).map_err(|error| fault(path, "cannot be written", &error))?;
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        folder
            .and_then(|()| replace(path, (written + "\n").as_bytes()))
            .map_err(|error| fault(path, "cannot be written", &error))?;
        self.unsaved = 0;
        Ok(())
    }
}

pub(crate) fn fault(path: &Path, what: &str, why: &dyn std::fmt::Display) -> NodeError {
    NodeError::new(Category::ConfigError, format!("the cassette {} {what}: {why}", path.display()))
}
