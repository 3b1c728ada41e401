//! The folder of programs. A graph can only name files in it.

use std::fs;
use std::path::{Path, PathBuf};

use llmnode_graph::NodeLoader;

use super::data::Data;
use crate::program::{Plan, ProgramError, open_plan};
use crate::signature::Signature;

#[derive(Default)]
pub(super) struct Programs {
    registered: bool,
    folder: Option<PathBuf>,
}

impl Programs {
    pub(super) fn register_once(&mut self) -> bool {
        !std::mem::replace(&mut self.registered, true)
    }

    pub(super) fn set_folder(&mut self, folder: PathBuf) {
        self.folder = Some(folder);
    }
}

/// `None`: a fault was reported.
pub(super) fn plan(data: &Data, signature: &Signature, node: &mut NodeLoader<'_>) -> Option<Plan> {
    let unchanged = Plan::new(signature);
    let folder = node
        .extension::<Programs>()
        .and_then(|programs| programs.folder.as_deref());
    let program = match (&data.program, folder) {
        (None, None) => return Some(unchanged),
        (Some(_), None) => {
            node.fault(
                "/program",
                "the program has no folder of programs; add `.programs(\"folder\")` to the registry",
            );
            return None;
        }
        (Some(name), Some(folder)) => ProgramFile {
            folder,
            name: name.clone(),
            place: "/program",
            is_named: true,
        },
        (None, Some(folder)) => ProgramFile {
            folder,
            name: format!("{}_compiled", node.id()),
            place: "",
            is_named: false,
        },
    };
    let Some(path) = program.path(node)? else {
        return Some(unchanged);
    };
    match open_plan(&path, signature) {
        Ok(plan) => Some(plan),
        Err(error) => {
            report_faults(program.place, &program.name, &error, node);
            None
        }
    }
}

/// The file of a node's program: one that the node names must be there; one by the node's id may be.
struct ProgramFile<'f> {
    folder: &'f Path,
    name: String,
    /// Where in the node's data a fault is.
    place: &'static str,
    is_named: bool,
}

impl ProgramFile<'_> {
    /// `None`: a fault was reported. `Some(None)`: the node has no program.
    fn path(&self, node: &mut NodeLoader<'_>) -> Option<Option<PathBuf>> {
        let ProgramFile {
            folder,
            name,
            place,
            is_named,
        } = self;
        if !folder.is_dir() {
            let shown = folder.display().to_string();
            let message = format!("the folder of programs {shown:?} is not there, or is no folder");
            node.fault(place, message);
            return None;
        }
        if !is_name(name) {
            // Other ids cannot leave the folder; they simply have no program.
            if !is_named && !name.contains(['/', '\\']) && !name.contains("..") {
                return Some(None);
            }
            let message =
                format!("{name:?} cannot be the name of a program: 1 to 64 of `A-Z a-z 0-9 _ -`");
            node.fault(place, message);
            return None;
        }
        let path = folder.join(format!("{name}.json"));
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_file() => Some(Some(path)),
            Ok(_) => {
                let message =
                    format!("the program {name:?} is not in the folder; links are not followed");
                node.fault(place, message);
                None
            }
            Err(_) if *is_named => {
                let names = program_names(folder);
                node.unknown(place, "program", name, names.iter().map(String::as_str));
                None
            }
            Err(_) => Some(None),
        }
    }
}

fn report_faults(place: &str, name: &str, error: &ProgramError, node: &mut NodeLoader<'_>) {
    for fault in error.faults() {
        node.fault(place, format!("the program {name:?} does not fit: {fault}"));
    }
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn program_names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| {
        Some(
            entry
                .file_name()
                .to_str()?
                .strip_suffix(".json")?
                .to_owned(),
        )
    });
    let mut names: Vec<String> = names.filter(|name| is_name(name)).take(1_000).collect();
    names.sort();
    names
}
