//! Reads the text of a file into nodes and edges.

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

const BYTES: usize = 1 << 20;
const NESTING: usize = 64;
const NODES: usize = 2_000;
const EDGES: usize = 10_000;

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
    let before = faults.noted();
    for (name, most) in [("nodes", NODES), ("edges", EDGES)] {
        let count = file.get(name).and_then(Value::as_array).map_or(0, Vec::len);
        if count > most {
            let message = format!(
                "the graph has {count} {name}, but at most {most} are allowed: move some into a subgraph"
            );
            faults.fault(format!("/{name}"), FaultKind::Cap, message);
        }
    }
    if faults.noted() > before {
        return None;
    }
    report_duplicates(duplicates, faults);
    if is_react_flow {
        file.retain(|_, value| !value.is_null());
    }
    let schema = schemars::schema_for!(FileText);
    check(schema.as_value(), is_react_flow, &file, None, faults);
    let list = |name: &str| {
        file.get(name)
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice)
    };
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
    read_nodes(list("nodes"), &mut graph, faults);
    read_edges(list("edges"), &mut graph, faults);
    Some(graph)
}

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

fn read_nodes(nodes: &[Value], graph: &mut GraphFile, faults: &mut Faults) {
    let faulty = faulty_parts(faults);
    let mut ids: HashMap<String, usize> = HashMap::new();
    for (index, node) in nodes.iter().enumerate() {
        let at = format!("/nodes/{index}");
        let text = |name: &str| {
            node.get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let (id, kind) = (text("id"), text("type"));
        graph.ids_are_known &=
            is_id(&id, &at, &ids, faults) && !faulty.contains(&format!("{at}/id"));
        ids.entry(id.clone()).or_insert(index);
        let values = node
            .get("data")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let mut data = NodeSettings::new(values, format!("{at}/data"));
        let before = faults.noted();
        if graph.is_react_flow {
            react_flow::translate(&kind, &mut data, faults);
        }
        let is_set = |name: &str| {
            data.values
                .get(name)
                .and_then(Value::as_bool)
                .unwrap_or_default()
        };
        graph.nodes.push(NodeFile {
            label: data
                .values
                .get("label")
                .and_then(Value::as_str)
                .map(str::to_owned),
            is_start: is_set("isStart"),
            is_faulty: faulty.contains(&at) || faults.noted() > before,
            id,
            kind,
            at,
            data,
        });
    }
}

fn faulty_parts(faults: &Faults) -> HashSet<String> {
    let part = |pointer: &str| {
        let own = pointer
            .match_indices('/')
            .nth(2)
            .map_or(pointer, |(end, _)| &pointer[..end]);
        if pointer.strip_prefix(own) == Some("/id") {
            pointer.to_owned()
        } else {
            own.to_owned()
        }
    };
    faults.pointers().map(part).collect()
}

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

fn read_edges(edges: &[Value], graph: &mut GraphFile, faults: &Faults) {
    let faulty = faulty_parts(faults);
    let routers = graph.nodes.iter().filter(|node| node.kind == "router");
    let routers: HashSet<&str> = routers.map(|node| node.id.as_str()).collect();
    for (index, edge) in edges.iter().enumerate() {
        let at = format!("/edges/{index}");
        let text = |name: &str| {
            edge.get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        if faulty.contains(&at) || faulty.contains(&format!("{at}/id")) {
            graph.edges_are_known = false;
            graph.calls_are_known &= edge
                .get("sourceHandle")
                .is_some_and(|handle| handle != TOOL_CALL);
            continue;
        }
        let source = text("source");
        let name = text("sourceHandle");
        let handle = match handle(&name) {
            "else" if routers.contains(&*source) => "default",
            handle => handle,
        };
        graph.edges.push(EdgeFile {
            target: text("target"),
            handle: handle.to_owned(),
            source,
            at,
        });
    }
}
