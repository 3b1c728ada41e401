//! The file of a graph, as it is on the disk now.
//!
//! It is looked at again and again, so the cheap question comes first: have the times or sizes changed, of the file or of its
//! subgraphs? Only then is it read and checked. While somebody edits it, it has mistakes most of the time: the last picture stays,
//! marked as old, and the mistakes are listed beside it. A link that replaces the file is not followed: the server shows the files
//! that it was started with, and no others.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Read};
use std::iter::repeat;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use llmnode_flow::flow::Outline;
use llmnode_graph::ext::locate;
use llmnode_graph::{CheckedRegistry, Fault, Graph, GraphFaults};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::options::Registries;

/// A graph is smaller.
const BYTES: u64 = 1 << 22;
/// Subgraphs' files that are watched.
const FILES: usize = 1_000;
const LISTED: usize = 100;

#[derive(Clone)]
pub(crate) struct WrittenNode {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) label: String,
    pub(crate) line: usize,
    pub(crate) data: String,
}

/// A mistake, and where it is in the text.
#[derive(Clone)]
pub(crate) struct Mistake {
    pub(crate) text: String,
    pub(crate) line: usize,
    pub(crate) node: Option<usize>,
    pub(crate) is_warning: bool,
}

#[derive(Clone, Default)]
pub(crate) struct GraphFile {
    path: PathBuf,
    /// A link that replaces the file is not followed elsewhere.
    canonical: PathBuf,
    seen: Option<(SystemTime, u64)>,
    /// Their files are watched, too.
    has_subgraphs: bool,
    /// Why it cannot be read.
    pub(crate) problem: Option<String>,
    /// `None`: it has mistakes.
    pub(crate) loaded: Option<(Graph, CheckedRegistry)>,
    /// Of the last text that was JSON.
    pub(crate) outline: Option<Outline>,
    pub(crate) nodes: Vec<WrittenNode>,
    pub(crate) mistakes: Vec<Mistake>,
    /// Mistakes beyond the listed ones.
    pub(crate) unlisted: usize,
    /// The picture is of an earlier text.
    pub(crate) is_old: bool,
}

impl GraphFile {
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        let canonical = fs::canonicalize(path).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })?;
        Ok(GraphFile {
            path: path.to_path_buf(),
            canonical,
            ..GraphFile::default()
        })
    }

    pub(crate) fn name(&self) -> Cow<'_, str> {
        self.path
            .file_name()
            .unwrap_or(self.path.as_os_str())
            .to_string_lossy()
    }

    pub(crate) fn canonical(&self) -> &Path {
        &self.canonical
    }

    /// Returns whether something is new.
    pub(crate) fn look(&mut self, registries: &Registries) -> bool {
        let read = match self.stamp() {
            Ok(stamp) if self.seen == Some(stamp) => return false,
            Ok(stamp) => {
                self.seen = Some(stamp);
                read(&self.path)
            }
            Err(error) => {
                self.seen = None;
                Err(error)
            }
        };
        match read {
            Ok(text) => {
                self.problem = None;
                self.check(&text, registries);
                self.has_subgraphs = self.nodes.iter().any(|node| node.kind == "subgraph");
            }
            Err(error) => {
                let problem = Some(format!("It cannot be read: {error}."));
                if self.problem == problem {
                    return false;
                }
                (self.problem, self.loaded, self.is_old) = (problem, None, self.outline.is_some());
            }
        }
        true
    }

    fn stamp(&self) -> io::Result<(SystemTime, u64)> {
        if fs::canonicalize(&self.path)? != self.canonical {
            return Err(io::Error::other(
                "it is a link to another file now, which is not opened",
            ));
        }
        let metadata = fs::metadata(&self.path)?;
        let mut changed = metadata.modified()?;
        let mut bytes = metadata.len();
        let folder = self.canonical.parent().filter(|_| self.has_subgraphs);
        for entry in folder
            .map(fs::read_dir)
            .into_iter()
            .flatten()
            .flatten()
            .flatten()
            .take(FILES)
        {
            if entry
                .path()
                .extension()
                .is_some_and(|extension| extension == "json")
                && let Ok(metadata) = entry.metadata()
            {
                changed = changed.max(metadata.modified().unwrap_or(changed));
                bytes = bytes.wrapping_add(metadata.len());
            }
        }
        Ok((changed, bytes))
    }

    fn check(&mut self, text: &str, registries: &Registries) {
        let registry = match registries(text) {
            Ok(registry) => registry,
            Err(problem) => {
                (self.problem, self.loaded, self.is_old) =
                    (Some(problem), None, self.outline.is_some());
                return;
            }
        };
        let loaded = Graph::parse(text, &registry);
        let (faults, warnings) = match &loaded {
            Ok(graph) => (&[][..], graph.warnings()),
            Err(GraphFaults {
                faults, warnings, ..
            }) => (&faults[..], &warnings[..]),
        };
        let file: Value =
            serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
        let all = faults
            .iter()
            .zip(repeat(false))
            .chain(warnings.iter().zip(repeat(true)));
        self.mistakes = all
            .take(LISTED)
            .map(|(fault, is_warning)| mistake(text, fault, is_warning))
            .collect();
        self.unlisted = (faults.len() + warnings.len()).saturating_sub(LISTED);
        let outline = loaded
            .as_ref()
            .map_or_else(|_| written_outline(&file), |graph| Some(graph.outline()));
        self.loaded = loaded.ok().map(|graph| (graph, registry));
        self.is_old = outline.is_none() && self.outline.is_some();
        if let Some(outline) = outline {
            self.outline = Some(outline);
            self.nodes = written_nodes(text);
        }
    }
}

/// A file that is being written is checked again when it is complete, since its stamp changes.
fn read(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    let read = fs::File::open(path)?
        .take(BYTES + 1)
        .read_to_string(&mut text)?;
    if read as u64 > BYTES {
        return Err(io::Error::other(format!("it has more than {BYTES} bytes")));
    }
    Ok(text)
}

fn line(text: &str, pointer: &str) -> usize {
    let before = text.get(..locate(text, pointer).start).unwrap_or(text);
    before.matches('\n').count() + 1
}

fn mistake(text: &str, fault: &Fault, is_warning: bool) -> Mistake {
    // A subgraph's fault is shown at the node that leads to it.
    let pointer = fault.via.first().unwrap_or(&fault.pointer);
    let node = pointer
        .strip_prefix("/nodes/")
        .and_then(|rest| rest.split('/').next());
    Mistake {
        text: fault.to_string(),
        line: line(text, pointer),
        node: node.and_then(|node| node.parse().ok()),
        is_warning,
    }
}

fn list<'f>(file: &'f Value, name: &str) -> &'f [Value] {
    file.get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[derive(Deserialize)]
struct RawNodes<'t> {
    #[serde(borrow)]
    nodes: Vec<&'t RawValue>,
}

fn written_nodes(whole: &str) -> Vec<WrittenNode> {
    let Ok(RawNodes { nodes }) = serde_json::from_str(whole.trim_start_matches('\u{feff}')) else {
        return Vec::new();
    };
    let mut line = 1;
    let mut counted = 0;
    nodes
        .into_iter()
        .map(|node: &RawValue| {
            let node = node.get();
            // Borrowed from the text.
            let at = (node.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
            line += whole
                .get(counted..at)
                .map_or(0, |between| between.matches('\n').count());
            counted = at;
            let node: Value = serde_json::from_str(node).unwrap_or_default();
            let data = node.get("data").unwrap_or(&Value::Null);
            let label = text(data, "label");
            WrittenNode {
                id: text(&node, "id").to_owned(),
                kind: text(&node, "type").to_owned(),
                label: if label.is_empty() {
                    text(&node, "id")
                } else {
                    label
                }
                .to_owned(),
                line,
                data: serde_json::to_string_pretty(data).unwrap_or_default(),
            }
        })
        .collect()
}

/// Where an edge leads, as an [`Outline`] is written.
fn target(edge: &Value) -> Value {
    match text(edge, "target") {
        "END" => json!("end"),
        step => json!({"step": step}),
    }
}

/// For a file with mistakes: its nodes and edges, as far as they exist.
fn written_outline(file: &Value) -> Option<Outline> {
    let mut seen = HashSet::new();
    let nodes: Vec<&Value> = list(file, "nodes")
        .iter()
        .filter(|node| seen.insert(text(node, "id")))
        .collect();
    if nodes.is_empty() {
        return None;
    }
    let mut edges: HashMap<&str, Vec<&Value>> = HashMap::new();
    for edge in list(file, "edges") {
        edges.entry(text(edge, "source")).or_default().push(edge);
    }
    let steps: Vec<Value> = nodes
        .iter()
        .map(|node| {
            let from = edges.get(text(node, "id")).into_iter().flatten();
            let edges: Vec<Value> = from
                .map(|edge| json!([text(edge, "sourceHandle"), target(edge)]))
                .collect();
            let place = json!({"node": text(node, "type")});
            json!({"label": text(node, "id"), "place": place, "edges": edges})
        })
        .collect();
    serde_json::from_value(json!({"flow": [text(file, "name"), steps]})).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_mistakes_has_an_outline() {
        let file = json!({
            "nodes": [{"id": "a", "type": "agent"}, {"id": "a"}, {"type": 3}],
            "edges": [{"source": "a", "target": "b"}, {"source": "a", "target": "a", "sourceHandle": "again"}, 7],
        });
        let Some(Outline::Flow(_, steps)) = written_outline(&file) else {
            panic!()
        };
        assert_eq!(steps.len(), 2);
        assert_eq!(steps[0].edges.len(), 2);
        for file in [
            json!(null),
            json!({"nodes": 3}),
            json!({"nodes": []}),
            json!([]),
        ] {
            assert_eq!(written_outline(&file), None);
        }
    }
}
