//! The registry's folder of graphs.

use std::fs;
use std::io::{self, Read};

use llmnode_reader::text::one_line;

use crate::faults::{FaultKind, Faults, shown};
use crate::graph::name::is_name;
use crate::graph::node_type::CheckedRegistry;

const MAX_FILE_BYTES: u64 = 1 << 20;

pub(crate) fn text_of(
    name: &str,
    registry: &CheckedRegistry,
    place: &str,
    faults: &mut Faults,
) -> Option<String> {
    match read(name, registry) {
        Ok(Some(text)) => return Some(text),
        Ok(None) => {
            let files = files_of(registry);
            let message = format!("no graph {:?} in the registry's folder", shown(name));
            let files = files.iter().map(String::as_str);
            faults.unknown(true, place, FaultKind::UnknownName, message, name, files);
        }
        Err((kind, message)) => faults.fault(place, kind, message),
    }
    None
}

/// Nothing outside the folder is opened. `None`: there is no such file.
fn read(name: &str, registry: &CheckedRegistry) -> Result<Option<String>, (FaultKind, String)> {
    let named = format!("{:?}", shown(name));
    let unreadable = |error: io::Error| {
        let why = one_line(error.to_string(), 200);
        (
            FaultKind::Syntax,
            format!("the file of {named} cannot be read: {why}"),
        )
    };
    if !is_name(name) {
        let why =
            "is not a valid name of a graph: use 1 to 64 of `A-Z a-z 0-9 _ -`, without `.json`";
        return Err((FaultKind::BadName, format!("{named} {why}")));
    }
    let Some(folder) = &registry.0.folder else {
        let why =
            "cannot be loaded, because the registry has no folder: set one with `Registry::folder`";
        return Err((FaultKind::Setting, format!("{named} {why}")));
    };
    let found = folder.canonicalize().and_then(|folder| {
        let path = folder.join(format!("{name}.json")).canonicalize()?;
        Ok((folder, path))
    });
    let (folder, path) = match found {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    if path.parent() != Some(&*folder) {
        let why = "is a link that leads out of the folder: put the file itself into the folder";
        return Err((FaultKind::BadName, format!("the file of {named} {why}")));
    }
    if !path.is_file() {
        return Err(unreadable(io::Error::other("it is not a regular file")));
    }
    let mut text = String::new();
    let file = fs::File::open(&path).map_err(unreadable)?;
    file.take(MAX_FILE_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(unreadable)?;
    if text.len() as u64 > MAX_FILE_BYTES {
        let why = format!("has more than {MAX_FILE_BYTES} bytes: move nodes into another file");
        return Err((FaultKind::Cap, format!("the file of {named} {why}")));
    }
    Ok(Some(text))
}

fn files_of(registry: &CheckedRegistry) -> Vec<String> {
    let entries = registry
        .0
        .folder
        .as_ref()
        .and_then(|folder| fs::read_dir(folder).ok());
    let names = entries
        .into_iter()
        .flatten()
        .take(1000)
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            Some(name.strip_suffix(".json")?.to_owned()).filter(|name| is_name(name))
        });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}
