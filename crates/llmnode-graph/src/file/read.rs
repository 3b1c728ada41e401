//! Reads the text of a file into nodes and edges.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use llmnode_reader::internal::nearest;
use serde_json::{Map, Value};

use super::describe::describe;
use super::json::Document;
use super::recovery::{Repairs, remap_pointer};
use super::schema_check::{FRONT_END, SchemaChecker};
use super::text::FileText;
use super::values::{inputs, limits, state};
use super::{
    EdgeFile, FORMAT, FileFormat, GraphFile, IdState, NodeFile, NodeSettings, VERSION, handle, is_end,
    is_start, json, react_flow,
};
use crate::faults::{FaultKind, Faults, shown};

const BYTES: usize = 1 << 20;
const NESTING: usize = 64;
const NODES: usize = 2_000;
const EDGES: usize = 10_000;
/// With more unknown names than this, none is taken for the missing id.
const NAMES: usize = 20;

/// `None`: it is not a graph at all.
pub(crate) fn read(text: &str, faults: &mut Faults) -> Option<GraphFile> {
    let Document { value, duplicates } = document(text, faults)?;
    from_json(value, duplicates, faults)
}

pub(crate) fn document(text: &str, faults: &mut Faults) -> Option<Document> {
    let (kind, message) = if text.len() > BYTES {
        (
            FaultKind::Cap,
            format!("the file has {} bytes, but at most {BYTES} (1 MiB) are allowed", text.len()),
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
        faults.fault(pointer, FaultKind::DuplicateMember, "occurs twice in its object; remove one");
    }
}

fn from_json(value: Value, duplicates: Vec<String>, faults: &mut Faults) -> Option<GraphFile> {
    let Value::Object(mut file) = value else {
        faults.fault("", FaultKind::WrongKind, format!("is {}, but must be an object", describe(&value)));
        return None;
    };
    let form = form(&file, faults)?;
    let mut too_many = false;
    for (name, most) in [("nodes", NODES), ("edges", EDGES)] {
        let count = file.get(name).and_then(Value::as_array).map_or(0, Vec::len);
        if count > most {
            let message = format!(
                "the graph has {count} {name}, but at most {most} are allowed: move some into a subgraph"
            );
            faults.fault(format!("/{name}"), FaultKind::Cap, message);
            too_many = true;
        }
    }
    if too_many {
        return None;
    }
    report_duplicates(duplicates, faults);
    if form == FileFormat::ReactFlow {
        // `null` counts as absent.
        file.retain(|_, value| !value.is_null());
    }
    let schema = schemars::schema_for!(FileText);
    let place = |pointer: &str| pointer.to_owned();
    let fit = SchemaChecker::of_file(schema.as_value(), form == FileFormat::ReactFlow, &place, faults);
    let (Value::Object(mut file), repairs) = fit.file(Value::Object(file)) else { return None };
    let list = |value: Option<Value>| match value {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    };
    let (nodes, edges) = (list(file.remove("nodes")), list(file.remove("edges")));
    if nodes.is_empty() && !repairs.has_lost("/nodes") {
        faults.fault(
            remap_pointer(&repairs.moved, "/nodes"),
            FaultKind::OutOfRange,
            "is empty, but a graph needs at least one node",
        );
    }
    let mut graph = GraphFile {
        form,
        name: file.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
        // If declarations were lost, nothing is reported as missing.
        open_inputs: form == FileFormat::ReactFlow && !file.contains_key("inputs")
            || repairs.lost.iter().any(|lost| lost == "/inputs" || lost == "/state"),
        inputs: inputs(&file, &repairs, faults),
        state: state(&file, &repairs, faults),
        has_lost_state: repairs.lost.iter().any(|lost| lost == "/state"),
        max_steps: file.get("max_steps").and_then(Value::as_u64),
        limits: limits(&file),
        nodes: Vec::new(),
        edges: Vec::new(),
        moved: BTreeMap::new(),
        unclear_name: None,
    };
    read_nodes(nodes, &repairs, &mut graph, faults);
    read_edges(&edges, &repairs, &mut graph);
    graph.moved = repairs.moved;
    infer_missing_id(&mut graph);
    Some(graph)
}

/// An unsupported version is refused before anything else is checked.
fn form(file: &Map<String, Value>, faults: &mut Faults) -> Option<FileFormat> {
    match file.get("format") {
        None | Some(Value::Null) => Some(FileFormat::ReactFlow),
        Some(_) => head(file, FORMAT, VERSION, faults).then_some(FileFormat::Own),
    }
}

/// Returns whether format and version are supported. A missing version is a fault, but the file is read.
pub(crate) fn head(file: &Map<String, Value>, format: &str, newest: u64, faults: &mut Faults) -> bool {
    if let Some(other) = file.get("format").filter(|other| *other != format) {
        faults.fault("/format", FaultKind::Format, format!("is {}, but must be {format:?}", describe(other)));
        return false;
    }
    match file.get("version") {
        Some(Value::Number(version)) if version.as_u64().is_some_and(|one| (1..=newest).contains(&one)) => {
            true
        }
        Some(Value::Number(version)) if version.as_u64().is_some_and(|one| one > newest) => {
            let message = format!(
                "{format} version {version} is newer than version {newest}, the newest supported by this version: update llmnode"
            );
            faults.fault("/version", FaultKind::Version, message);
            false
        }
        Some(other) => {
            faults.fault(
                "/version",
                FaultKind::Version,
                format!("is {}, but must be {newest}", describe(other)),
            );
            false
        }
        None => {
            faults.fault(
                "",
                FaultKind::Version,
                format!("\"version\" is missing: write \"version\": {newest}"),
            );
            true
        }
    }
}

fn read_nodes(nodes: Vec<Value>, repairs: &Repairs, graph: &mut GraphFile, faults: &mut Faults) {
    let mut ids: HashMap<String, usize> = HashMap::new();
    for (index, node) in nodes.into_iter().enumerate() {
        let at = remap_pointer(&repairs.moved, &format!("/nodes/{index}"));
        let text = |name: &str| node.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (id, kind) = (text("id"), text("type"));
        let mut id_state = if id.is_empty() { IdState::Invalid } else { IdState::Own };
        if is_end(&id) {
            let message = format!("{id:?} is the end of every graph: choose another id");
            faults.fault(format!("{at}/id"), FaultKind::BadName, message);
            id_state = IdState::Invalid;
        } else if let Some(other) = ids.get(&id) {
            let message = format!(
                "{:?} is already the id of {}: choose another id",
                shown(&id),
                graph.nodes[*other].at
            );
            faults.fault(format!("{at}/id"), FaultKind::Duplicate, message);
            (id_state, graph.nodes[*other].id_state) = (IdState::Invalid, IdState::Shared);
        } else if id_state == IdState::Own {
            ids.insert(id.clone(), index);
        }
        let place = remap_pointer(&repairs.moved, &format!("/nodes/{index}/data"));
        let has_lost_data = repairs.lost.iter().any(|lost| *lost == place || *lost == at);
        let values = node.get("data").and_then(Value::as_object).cloned().unwrap_or_default();
        let mut data = NodeSettings::new(values, place);
        if graph.form == FileFormat::ReactFlow {
            react_flow::translate(&kind, &mut data, faults);
        }
        let is_own = |name: &str| matches!(name, "id" | "type" | "data") || FRONT_END.contains(&name);
        let unknown_texts = node.as_object().into_iter().flatten().filter(|(name, _)| !is_own(name));
        let unknown_texts =
            unknown_texts.filter_map(|(_, value)| value.as_str().map(str::to_owned)).collect();
        let is_set = |name: &str| data.values.get(name).and_then(Value::as_bool).unwrap_or_default();
        graph.nodes.push(NodeFile {
            label: data.values.get("label").and_then(Value::as_str).map(str::to_owned),
            is_start: is_set("isStart"),
            id,
            kind,
            at,
            data,
            has_lost_data,
            unknown_texts,
            id_state,
        });
    }
}

fn read_edges(edges: &[Value], repairs: &Repairs, graph: &mut GraphFile) {
    let routers = graph.nodes.iter().filter(|node| node.kind == "router");
    let routers: HashSet<String> = routers.map(|node| node.id.clone()).collect();
    let lost: HashSet<&str> = repairs.lost.iter().map(String::as_str).collect();
    if lost.contains("/edges") {
        // In place of the edges that could not be read.
        let at = "/edges".to_owned();
        graph.edges.push(EdgeFile { source: None, target: None, handle: None, at });
    }
    for (index, edge) in edges.iter().enumerate() {
        let at = remap_pointer(&repairs.moved, &format!("/edges/{index}"));
        let text = |name: &str| edge.get(name).and_then(Value::as_str).map(str::to_owned);
        let (source, target) = (text("source"), text("target"));
        let is_lost = lost.contains(&*at) || lost.contains(&*format!("{at}/sourceHandle"));
        let mut handle = handle(edge.get("sourceHandle").and_then(Value::as_str).unwrap_or_default());
        if handle == "else" && source.as_ref().is_some_and(|source| routers.contains(source)) {
            handle = "default";
        }
        let handle = Some(handle.to_owned()).filter(|_| !is_lost);
        graph.edges.push(EdgeFile { source, target, handle, at });
    }
}

/// If only one id is missing or used twice, and edges have only one name that no node has, that name was intended.
fn infer_missing_id(graph: &mut GraphFile) {
    let mut wrong = (0..graph.nodes.len()).filter(|node| graph.nodes[*node].id_state == IdState::Invalid);
    let (Some(node), None) = (wrong.next(), wrong.next()) else { return };
    let known: HashSet<&str> = graph.nodes.iter().map(|node| node.id.as_str()).collect();
    let ends = || graph.edges.iter().flat_map(|edge| [&edge.source, &edge.target]).flatten();
    let is_unknown = |name: &&String| !known.contains(name.as_str()) && !is_end(name) && !is_start(name);
    // A name that occurs once, and is near to another, is a misspelling.
    let is_slip = |name: &&String| {
        ends().filter(|other| other == name).count() == 1 && nearest(name, known.iter().copied()).is_some()
    };
    let unknown: BTreeSet<&String> = ends().filter(is_unknown).collect();
    if unknown.len() > NAMES {
        return;
    }
    let mut meant = unknown.into_iter().filter(|name| !is_slip(name));
    let (Some(name), None) = (meant.next().cloned(), meant.next()) else { return };
    if graph.nodes[node].id.is_empty() {
        (graph.nodes[node].id, graph.nodes[node].id_state) = (name, IdState::Own);
    } else {
        graph.unclear_name = Some(name);
    }
}
