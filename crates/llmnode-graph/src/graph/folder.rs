//! The registry's folder of graphs.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use llmnode_reader::internal::one_line;

use crate::faults::{FaultKind, Faults, shown};
use crate::graph::name::is_name;
use crate::graph::node_type::Registered;

const MAX_FILE_BYTES: u64 = 1 << 20;

pub(crate) enum FolderError {
    BadName,
    NoFolder,
    NotThere,
    Outside,
    TooLarge,
    Io(io::Error),
}

/// Nothing outside the folder is opened.
pub(crate) fn text_of(name: &str, registry: &Registered) -> Result<String, FolderError> {
    if !is_name(name) {
        return Err(FolderError::BadName);
    }
    let folder = registry.folder().ok_or(FolderError::NoFolder)?;
    let path = folder.join(format!("{name}.json"));
    let found = |path: &Path| match path.canonicalize() {
        Ok(path) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(FolderError::NotThere),
        Err(error) => Err(FolderError::Io(error)),
    };
    let (folder, path) = (found(folder)?, found(&path)?);
    if path.parent() != Some(&*folder) {
        return Err(FolderError::Outside);
    }
    if !path.is_file() {
        return Err(FolderError::Io(io::Error::other("it is not a regular file")));
    }
    let mut text = String::new();
    let file = fs::File::open(&path).map_err(FolderError::Io)?;
    file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text).map_err(FolderError::Io)?;
    if u64::try_from(text.len()).is_ok_and(|length| length > MAX_FILE_BYTES) {
        Err(FolderError::TooLarge)
    } else {
        Ok(text)
    }
}

impl FolderError {
    pub(crate) fn note(self, place: &str, name: &str, registry: &Registered, faults: &mut Faults) {
        let named = format!("{:?}", shown(name));
        let (kind, message) = match self {
            FolderError::NotThere => {
                let known = files_of(registry);
                let message = format!("no graph {named} in the registry's folder");
                let known = known.iter().map(String::as_str);
                return faults.unknown(true, place, FaultKind::UnknownName, message, name, known);
            }
            FolderError::BadName => (
                FaultKind::BadName,
                format!(
                    "{named} is not a valid name of a graph: use 1 to 64 of `A-Z a-z 0-9 _ -`, without `.json`"
                ),
            ),
            FolderError::NoFolder => (
                FaultKind::Setting,
                format!(
                    "{named} cannot be loaded, because the registry has no folder: set one with `Registry::folder`"
                ),
            ),
            FolderError::Outside => (
                FaultKind::BadName,
                format!(
                    "the file of {named} is a link that leads out of the folder: put the file itself into the folder"
                ),
            ),
            FolderError::TooLarge => (
                FaultKind::Cap,
                format!(
                    "the file of {named} has more than {MAX_FILE_BYTES} bytes: move nodes into another file"
                ),
            ),
            FolderError::Io(error) => (
                FaultKind::Syntax,
                format!("the file of {named} cannot be read: {}", one_line(error.to_string(), 200)),
            ),
        };
        faults.fault(place, kind, message);
    }
}

fn files_of(registry: &Registered) -> Vec<String> {
    let entries = registry.folder().and_then(|folder| fs::read_dir(folder).ok());
    let names = entries.into_iter().flatten().take(1000).filter_map(|entry| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        Some(name.strip_suffix(".json")?.to_owned()).filter(|name| is_name(name))
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}
