//! Loads a text into a checked graph, and reports everything that is wrong with it.

use std::sync::Arc;

use llmnode_flow::private::Bounds;
use llmnode_model::internal::sha256_hex;
use llmnode_runtime::Limits;
use serde_json::json;

use crate::check;
use crate::facts::{Facts, Handles, Role};
use crate::faults::{FaultKind, Faults, GraphFaults, shown};
use crate::file::{self, GraphFile, IdState, NodeFile, Repairs};
use crate::graph::folder::text_of;
use crate::graph::loaded::{Graph, Inputs, LoadedGraph, LoadedNode};
use crate::graph::nesting::{LoadCache, Nesting};
use crate::graph::node_type::{NodeLoader, NodeType, Registered};
use crate::graph::roles::{TOOL_CALL, ToolLink, roles};
use crate::graph::step::{DEFAULT, ERROR, REJECTED};
use crate::graph::summary::{pauses_of_tools, summary, untrusted};
use crate::state::Rules;

/// Limit of a run's requests, if neither its limits nor the file set one.
const REQUESTS: u64 = 500;

pub(crate) fn parse(text: &str, registry: &Registered) -> Result<Graph, GraphFaults> {
    load(text, None, registry, Nesting { names: &[], cache: &LoadCache::default() })
}

pub(crate) fn open(name: &str, registry: &Registered) -> Result<Graph, GraphFaults> {
    let mut faults = Faults::default();
    match text_of(name, registry) {
        Ok(text) => load(&text, Some(name), registry, Nesting { names: &[], cache: &LoadCache::default() }),
        Err(wrong) => {
            wrong.note("", name, registry, &mut faults);
            Err(faults.into_parts(Some(shown(name))))
        }
    }
}

pub(crate) fn load(
    text: &str,
    name: Option<&str>,
    registry: &Registered,
    nesting: Nesting<'_>,
) -> Result<Graph, GraphFaults> {
    let mut faults = Faults::default();
    let graph = loaded(text, name, registry, nesting, &mut faults);
    match graph {
        Some((mut loaded, region, own)) if faults.is_empty() => {
            loaded.warnings = faults.into_parts(None).warnings;
            Graph::new(loaded, region).map_err(|error| {
                // Not reached: a flow refuses nothing that passed the checks.
                let mut faults = Faults::default();
                faults.fault("", FaultKind::Setting, error.message());
                faults.into_parts(own)
            })
        }
        Some((.., own)) => Err(faults.into_parts(own)),
        None => Err(faults.into_parts(name.map(str::to_owned))),
    }
}

type Checked = (LoadedGraph, check::Region, Option<String>);

fn loaded(
    text: &str,
    name: Option<&str>,
    registry: &Registered,
    nesting: Nesting<'_>,
    faults: &mut Faults,
) -> Option<Checked> {
    let mut file = file::read(text, faults)?;
    let own = Some(file.name.clone()).filter(|name| !name.is_empty()).or_else(|| name.map(str::to_owned));
    // The root counts for nesting even if it has no name.
    let names: Vec<String> =
        nesting.names.iter().cloned().chain([name.unwrap_or_default().to_owned()]).collect();
    let nesting = Nesting { names: &names, ..nesting };
    let links = check::links(&file, faults);
    let (roles, called) = roles(&file, &links);
    let mut facts = Vec::with_capacity(file.nodes.len());
    let mut loaded_nodes = Vec::with_capacity(file.nodes.len());
    for (at, role) in roles.into_iter().enumerate() {
        let made = node(&file, at, role, &called[at], registry, nesting, faults);
        file.nodes[at].is_start |= made.is_start;
        facts.push(made.facts);
        loaded_nodes.push(made.loaded_node);
    }
    pauses_of_tools(&mut facts, &called);
    merge_shared_ids(&file, &mut facts);
    let plan = check::check(&file, &links, &facts, faults)?;
    let loaded_nodes = loaded_nodes.into_iter().collect::<Option<Vec<LoadedNode>>>()?;
    let loaded_nodes = with_edges(loaded_nodes, &facts, &links);
    let height = loaded_nodes
        .iter()
        .filter_map(|loaded_node| Some(loaded_node.subgraph.as_ref()?.height() + 1))
        .max()
        .unwrap_or(0);
    let ids = file.nodes.iter().enumerate().map(|(at, node)| (node.id.clone(), at)).collect();
    let untrusted = untrusted(&facts);
    let retrieved = facts.iter().filter(|one| one.retrieved).flat_map(Facts::keys).cloned().collect();
    let limits = Limits::new();
    let limits = file.limits.requests.map_or(limits, |requests| limits.requests(requests));
    let limits = file.limits.tokens.map_or(limits, |tokens| limits.tokens(tokens));
    let limits = file.limits.money.map_or(limits, |money| limits.money(money));
    // An approval holds for a graph with all of its subgraphs.
    let within: Vec<&str> = loaded_nodes
        .iter()
        .filter_map(|loaded_node| Some(loaded_node.subgraph.as_ref()?.loaded.hash.as_str()))
        .collect();
    let hash = sha256_hex(json!([text, within]).to_string().as_bytes());
    let loaded = LoadedGraph {
        name: own.clone().unwrap_or_default(),
        hash,
        rules: Rules(file.state),
        loaded_nodes,
        ids,
        inputs: Inputs {
            declared: file.inputs,
            read: plan.needs.into_iter().collect(),
            allows_unknown: file.open_inputs,
        },
        bounds: Bounds { max_steps: file.max_steps, limits, requests: Some(REQUESTS) },
        facts: summary(&facts, &untrusted),
        untrusted,
        retrieved,
        warnings: Vec::new(),
        height,
    };
    Some((loaded, plan.region, own))
}

/// Nodes that share an id also share their writes.
fn merge_shared_ids(file: &GraphFile, facts: &mut [Facts]) {
    for at in (0..facts.len()).filter(|at| file.nodes[*at].id_state == IdState::Invalid) {
        let keys: Vec<String> = facts[at].keys().chain(&facts[at].possible_writes).cloned().collect();
        let twin = file
            .nodes
            .iter()
            .position(|node| node.id == file.nodes[at].id && node.id_state == IdState::Shared);
        if let Some(twin) = twin {
            let unclear = facts[at].unclear;
            let twin = &mut facts[twin];
            twin.possible_writes.extend(keys);
            twin.unclear |= unclear;
            (twin.has_shared_id, twin.handles.allows_unknown) = (true, true);
        }
    }
}

struct LoadOutcome {
    facts: Facts,
    loaded_node: Option<LoadedNode>,
    is_start: bool,
}

/// If something is wrong, it is reported, and the known facts are still returned.
fn node(
    file: &GraphFile,
    at: usize,
    role: Role,
    links: &[ToolLink],
    registry: &Registered,
    nesting: Nesting<'_>,
    faults: &mut Faults,
) -> LoadOutcome {
    let node = &file.nodes[at];
    let handles = Handles { known: vec![DEFAULT.to_owned()], ..Handles::default() };
    let mut facts = Facts { handles, role, ..Facts::default() };
    let found = type_of(node, registry, faults).filter(|_| !node.has_lost_data);
    let (before, noted) = (faults.len(), faults.noted());
    let mut loading = NodeLoader {
        node,
        settings: node.data.clone(),
        repairs: Repairs::default(),
        form: file.form,
        registry,
        links,
        nesting,
        subgraph: None,
        call: None,
        facts: &mut facts,
        faults,
    };
    let made = found.and_then(|(kind, _)| kind.load(&mut loading));
    let (subgraph, call, settings) = (loading.subgraph.take(), loading.call.take(), loading.settings);
    // Unknown settings show that the type was guessed wrongly.
    let is_refuted = found.is_some_and(|(_, is_guess)| is_guess) && faults.discard_if_unknown_members(before);
    let made = made.filter(|_| !is_refuted);
    let is_set = |name: &str| settings.values.get(name).is_some_and(|value| value == true);
    facts.pauses |= is_set("require_approval");
    // A `tool` that pauses waits as a whole.
    let approval = is_set("require_approval") || facts.pauses && subgraph.is_none() && node.kind == "tool";
    facts.handles.known.push(ERROR.to_owned());
    if approval {
        facts.handles.known.push(REJECTED.to_owned());
    }
    // If the type is unknown, no handle is wrong.
    facts.handles.allows_unknown |= made.is_none();
    facts.unclear |= made.is_none();
    if let (None, Some((kind, false)), true) = (&made, found, faults.noted() == noted) {
        let message = format!("the type {:?} refused the node without saying why", kind.name());
        faults.fault(&node.at, FaultKind::Setting, message);
    }
    let loaded_node = made.zip(found).map(|(made, (kind, _))| LoadedNode {
        id: node.id.clone(),
        label: node.label.clone().unwrap_or_else(|| node.id.clone()),
        kind: kind.name().to_owned(),
        node: made,
        approval,
        error_edge: false,
        rejected_edge: false,
        subgraph,
        call,
        untrusted: facts.untrusted,
        handles: facts.handles.known.clone(),
    });
    LoadOutcome { facts, loaded_node, is_start: is_set("isStart") }
}

/// The type, and whether it was guessed. `None`: it is unknown, which is reported.
fn type_of<'r>(
    node: &NodeFile,
    registry: &'r Registered,
    faults: &mut Faults,
) -> Option<(&'r Arc<dyn NodeType>, bool)> {
    // A missing type was reported before.
    if node.kind.is_empty() {
        return None;
    }
    if let Some(kind) = registry.node_type(&node.kind) {
        return Some((kind, false));
    }
    let (at, message) = (format!("{}/type", node.at), format!("no node type {:?}", shown(&node.kind)));
    let known = registry.types().map(|(name, _)| name);
    let meant = faults.unknown(true, at, FaultKind::UnknownType, message, &node.kind, known)?;
    Some((registry.node_type(meant)?, true))
}

/// Handles of calls are distinguished by their targets.
fn with_edges(mut loaded_nodes: Vec<LoadedNode>, facts: &[Facts], links: &check::Links) -> Vec<LoadedNode> {
    let ids: Vec<String> = loaded_nodes.iter().map(|loaded_node| loaded_node.id.clone()).collect();
    for loaded_node in &mut loaded_nodes {
        loaded_node.handles.retain(|handle| handle != TOOL_CALL);
    }
    for link in &links.edges {
        let Some(loaded_node) = link.from.and_then(|from| loaded_nodes.get_mut(from)) else { continue };
        loaded_node.error_edge |= link.handle.as_deref() == Some(ERROR);
        loaded_node.rejected_edge |= link.handle.as_deref() == Some(REJECTED);
    }
    for (from, to, _) in links.by(TOOL_CALL) {
        let handle = format!("{TOOL_CALL}:{}", ids[to]);
        if facts[to].role == Role::Step && !loaded_nodes[from].handles.contains(&handle) {
            loaded_nodes[from].handles.push(handle);
        }
    }
    loaded_nodes
}
