//! Reads the text of a file into nodes and edges.
//!
//! In this order: its size and JSON, its format and version, how much there is of it, and only then all of it against the schema. Each
//! of the first three ends the reading, since what follows would be nonsense or take too long. From the schema on, every fault is
//! reported, and reading goes on with what is left.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::describe::describe;
use super::json::Document;
use super::text::FileText;
use super::values::{inputs_and_state, limits};
use super::{
    EdgeFile, FORMAT, GraphFile, NodeFile, NodeSettings, VERSION, check, handle, is_end, json,
    react_flow,
};
use crate::facts::TOOL_CALL;
use crate::faults::{FaultKind, Faults, shown};

/// The most of each. Larger graphs are put together from subgraphs.
const BYTES: usize = 1 << 20;
const NESTING: usize = 64;
const NODES: usize = 2_000;
const EDGES: usize = 10_000;

/// `None`: the file is not read further, and the faults say why.
pub(crate) fn read(text: &str, faults: &mut Faults) -> Option<GraphFile> {
    let Document { value, duplicates } = document(text, faults)?;
    let Value::Object(mut file) = value else {
        faults.fault(
            "",
            FaultKind::WrongKind,
            format!("is {}, but must be an object", describe(&value)),
        );
        return None;
    };
    let is_react_flow = file.get("format").is_none_or(Value::is_null);
    // An unsupported version is refused before anything else is checked.
    if !is_react_flow && !head(&file, FORMAT, VERSION, faults) {
        return None;
    }
    if is_too_large(&file, faults) {
        return None;
    }
    report_duplicates(duplicates, faults);
    if is_react_flow {
        file.retain(|_, value| !value.is_null());
    }
    let schema = schemars::schema_for!(FileText);
    check(schema.as_value(), is_react_flow, &file, None, faults);
    if file
        .get("nodes")
        .and_then(Value::as_array)
        .is_some_and(Vec::is_empty)
    {
        faults.fault(
            "/nodes",
            FaultKind::OutOfRange,
            "is empty, but a graph needs at least one node",
        );
    }
    let faulty = faulty_parts(faults);
    let (inputs, state) = inputs_and_state(&file, &faulty, faults);
    let mut graph = GraphFile {
        is_react_flow,
        name: file
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        open_inputs: is_react_flow && !file.contains_key("inputs"),
        inputs,
        state,
        max_steps: file.get("max_steps").and_then(Value::as_u64),
        limits: limits(&file),
        nodes: Vec::new(),
        edges: Vec::new(),
        ids_are_known: file.get("nodes").is_some_and(Value::is_array),
        edges_are_known: file.get("edges").is_none_or(Value::is_array),
        calls_are_known: file.get("edges").is_none_or(Value::is_array),
    };
    read_nodes(list(&file, "nodes"), &mut graph, faults);
    read_edges(list(&file, "edges"), &mut graph, faults);
    Some(graph)
}

fn is_too_large(file: &Map<String, Value>, faults: &mut Faults) -> bool {
    let mut is_too_large = false;
    for (name, most) in [("nodes", NODES), ("edges", EDGES)] {
        let count = file.get(name).and_then(Value::as_array).map_or(0, Vec::len);
        if count > most {
            let message = format!(
                "the graph has {count} {name}, but at most {most} are allowed: move some into a subgraph"
            );
            faults.fault(format!("/{name}"), FaultKind::Cap, message);
            is_too_large = true;
        }
    }
    is_too_large
}

/// The JSON of a text that is not too large.
pub(crate) fn document(text: &str, faults: &mut Faults) -> Option<Document> {
    let (kind, message) = if text.len() > BYTES {
        (
            FaultKind::Cap,
            format!(
                "the file has {} bytes, but at most {BYTES} (1 MiB) are allowed",
                text.len()
            ),
        )
    } else {
        match json::read(text.trim_start_matches('\u{feff}'), NESTING) {
            Ok(read) => return Some(read),
            Err(error) if error.is_data() => (FaultKind::Cap, error.to_string()),
            Err(error) => (FaultKind::Syntax, format!("is not JSON: {error}")),
        }
    };
    faults.fault("", kind, message);
    None
}

/// A second member of a name would be lost without a word.
pub(crate) fn report_duplicates(duplicates: Vec<String>, faults: &mut Faults) {
    for pointer in duplicates {
        faults.fault(
            pointer,
            FaultKind::DuplicateMember,
            "occurs twice in its object; remove one",
        );
    }
}

/// Returns whether format and version are supported. The file is read even without a version, which is a fault.
pub(crate) fn head(
    file: &Map<String, Value>,
    format: &str,
    newest: u64,
    faults: &mut Faults,
) -> bool {
    if let Some(other) = file.get("format").filter(|other| *other != format) {
        faults.fault(
            "/format",
            FaultKind::Format,
            format!("is {}, but must be {format:?}", describe(other)),
        );
        return false;
    }
    let version = file.get("version");
    let number = version.and_then(Value::as_u64);
    let (place, message) = match version {
        _ if number.is_some_and(|one| (1..=newest).contains(&one)) => return true,
        Some(version) if number.is_some_and(|one| one > newest) => (
            "/version",
            format!(
                "{format} version {version} is newer than version {newest}, the newest supported by this version: update llmnode"
            ),
        ),
        Some(other) => (
            "/version",
            format!("is {}, but must be {newest}", describe(other)),
        ),
        None => (
            "",
            format!("\"version\" is missing: write \"version\": {newest}"),
        ),
    };
    faults.fault(place, FaultKind::Version, message);
    version.is_none()
}

/// Reads the nodes. One whose parts are faulty is kept, so that edges to it are not reported as well.
fn read_nodes(nodes: &[Value], graph: &mut GraphFile, faults: &mut Faults) {
    let faulty = faulty_parts(faults);
    let mut ids: HashMap<String, usize> = HashMap::new();
    for (index, node) in nodes.iter().enumerate() {
        let at = format!("/nodes/{index}");
        let id = text(node, "id");
        let kind = text(node, "type");
        graph.ids_are_known &=
            is_id(&id, &at, &ids, faults) && !faulty.contains(&format!("{at}/id"));
        ids.entry(id.clone()).or_insert(index);
        let values = match node.get("data") {
            Some(Value::Object(values)) => values.clone(),
            _ => Map::new(),
        };
        let mut data = NodeSettings::new(values, format!("{at}/data"));
        let before = faults.noted();
        if graph.is_react_flow {
            react_flow::translate(&kind, &mut data, faults);
        }
        let label = data.values.get("label").and_then(Value::as_str);
        let is_start = data.values.get("isStart").and_then(Value::as_bool);
        graph.nodes.push(NodeFile {
            label: label.map(str::to_owned),
            is_start: is_start.unwrap_or_default(),
            is_faulty: faulty.contains(&at) || faults.noted() > before,
            id,
            kind,
            at,
            data,
        });
    }
}

fn list<'f>(file: &'f Map<String, Value>, name: &str) -> &'f [Value] {
    match file.get(name) {
        Some(Value::Array(list)) => list,
        _ => &[],
    }
}

/// A text of a node or an edge. What is missing or no text was already reported.
fn text(part: &Value, name: &str) -> String {
    let text = part.get(name).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

/// The nodes and edges, and their ids, that a fault was noted for.
fn faulty_parts(faults: &Faults) -> HashSet<String> {
    let mut parts = HashSet::new();
    for pointer in faults.pointers() {
        let part = match pointer.match_indices('/').nth(2) {
            Some((end, _)) => &pointer[..end],
            None => pointer,
        };
        let is_id = pointer.strip_prefix(part) == Some("/id");
        parts.insert(if is_id { pointer } else { part }.to_owned());
    }
    parts
}

/// Whether the id names this node alone.
fn is_id(id: &str, at: &str, ids: &HashMap<String, usize>, faults: &mut Faults) -> bool {
    let place = format!("{at}/id");
    if is_end(id) {
        let message = format!("{id:?} is the end of every graph: choose another id");
        faults.fault(place, FaultKind::BadName, message);
        return false;
    }
    // A missing id was already reported.
    if let Some(other) = ids.get(id).filter(|_| !id.is_empty()) {
        let message = format!(
            "{:?} is already the id of /nodes/{other}: choose another id",
            shown(id)
        );
        faults.fault(place, FaultKind::Duplicate, message);
        return false;
    }
    !id.is_empty()
}

/// Reads the edges that are whole. `else` of a router is its default.
fn read_edges(edges: &[Value], graph: &mut GraphFile, faults: &Faults) {
    let faulty = faulty_parts(faults);
    let routers = graph.nodes.iter().filter(|node| node.kind == "router");
    let routers: HashSet<&str> = routers.map(|node| node.id.as_str()).collect();
    for (index, edge) in edges.iter().enumerate() {
        let at = format!("/edges/{index}");
        if faulty.contains(&at) || faulty.contains(&format!("{at}/id")) {
            graph.edges_are_known = false;
            graph.calls_are_known &= edge
                .get("sourceHandle")
                .is_some_and(|handle| handle != TOOL_CALL);
            continue;
        }
        let source = text(edge, "source");
        let name = text(edge, "sourceHandle");
        let handle = match handle(&name) {
            "else" if routers.contains(&*source) => "default",
            handle => handle,
        };
        graph.edges.push(EdgeFile {
            target: text(edge, "target"),
            handle: handle.to_owned(),
            source,
            at,
        });
    }
}
