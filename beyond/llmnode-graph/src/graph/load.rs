//! Loads a text into a checked graph, and reports everything that is wrong with it.
//!
//! In this order: the file is read, its edges are linked, each node's type loads its settings and notes its facts, and the facts of
//! all are checked together. A graph that has any fault is not made.

use std::sync::Arc;

use llmnode_flow::private::Bounds;
use llmnode_model::internal::sha256_hex;
use llmnode_runtime::{Limits, Settings};
use serde_json::json;

use crate::check;
use crate::facts::{Facts, Role, TOOL_CALL};
use crate::faults::{FaultKind, Faults, GraphFaults, shown};
use crate::file::{self, GraphFile};
use crate::graph::folder::text_of;
use crate::graph::loaded::{Graph, Inputs, LoadedGraph, LoadedNode};
use crate::graph::node_type::{CheckedRegistry, LoadCache, LoadContext, NodeLoader, NodeType};
use crate::graph::roles::{ToolLink, roles};
use crate::graph::step::{DEFAULT, ERROR, REJECTED};
use crate::graph::summary::{pauses_of_tools, summary, untrusted};
use crate::state::Rules;

/// Of a run, where neither the file nor the program sets a limit: graphs have loops.
const DEFAULT_REQUESTS: u64 = 500;

/// A text without a name.
pub(crate) fn parse(text: &str, registry: &CheckedRegistry) -> Result<Graph, GraphFaults> {
    load(
        text,
        None,
        LoadContext {
            registry,
            names: &[],
            cache: &LoadCache::default(),
        },
    )
}

/// A file of the registry's folder.
pub(crate) fn open(name: &str, registry: &CheckedRegistry) -> Result<Graph, GraphFaults> {
    let mut faults = Faults::default();
    match text_of(name, registry, "", &mut faults) {
        Some(text) => load(
            &text,
            Some(name),
            LoadContext {
                registry,
                names: &[],
                cache: &LoadCache::default(),
            },
        ),
        None => Err(faults.into_parts(Some(shown(name)))),
    }
}

pub(crate) fn load(
    text: &str,
    name: Option<&str>,
    context: LoadContext<'_>,
) -> Result<Graph, GraphFaults> {
    let mut faults = Faults::default();
    let graph = loaded(text, name, context, &mut faults);
    graph.ok_or_else(|| faults.into_parts(name.map(str::to_owned)))
}

struct Subgraphs<'n> {
    /// How many levels of graphs are within.
    height: usize,
    hashes: Vec<&'n str>,
}

impl<'n> Subgraphs<'n> {
    fn of(nodes: &'n [LoadedNode]) -> Self {
        let mut height = 0;
        let mut hashes = Vec::new();
        for node in nodes {
            if let Some(graph) = &node.subgraph {
                height = height.max(graph.loaded.height + 1);
                hashes.push(&*graph.loaded.hash);
            }
        }
        Subgraphs { height, hashes }
    }
}

/// Reads the file, then its edges, then each node (a subgraph is loaded with its node), and only then checks the graph as a whole:
/// what a node reads, writes and may do is known from its data, not from the file.
fn loaded(
    text: &str,
    name: Option<&str>,
    context: LoadContext<'_>,
    faults: &mut Faults,
) -> Option<Graph> {
    let file = file::read(text, faults)?;
    // The root counts for nesting even without a name.
    let names = [context.names, &[name.unwrap_or_default().to_owned()]].concat();
    let context = LoadContext {
        names: &names,
        ..context
    };
    let links = check::links(&file, faults);
    let (roles, called) = roles(&file, &links);
    let (mut loaded_nodes, mut facts) = nodes(&file, &links, (&roles, &called), context, faults)?;
    pauses_of_tools(&mut facts, &called);
    let plan = check::check(&file, &links, &facts, faults)?;
    add_edges(&mut loaded_nodes, &facts, &links, &file);
    let Subgraphs { height, hashes } = Subgraphs::of(&loaded_nodes);
    // An approval covers a graph with all of its subgraphs.
    let hash = sha256_hex(json!([text, hashes]).to_string().as_bytes());
    let ids = file
        .nodes
        .iter()
        .enumerate()
        .map(|(at, node)| (node.id.clone(), at))
        .collect();
    let untrusted = untrusted(&facts);
    let retrieved = facts
        .iter()
        .filter(|one| one.retrieved)
        .flat_map(Facts::keys)
        .cloned()
        .collect();
    let loaded = LoadedGraph {
        name: if file.name.is_empty() {
            name.unwrap_or_default().to_owned()
        } else {
            file.name
        },
        hash,
        rules: Rules(file.state),
        loaded_nodes,
        ids,
        inputs: Inputs {
            declared: file.inputs,
            read: plan.needs.into_iter().collect(),
            allows_unknown: file.open_inputs,
        },
        bounds: Bounds {
            max_steps: file.max_steps,
            limits: file.limits,
            requests: Some(DEFAULT_REQUESTS),
        },
        facts: summary(&facts, &untrusted),
        untrusted,
        retrieved,
        warnings: std::mem::take(faults).into_parts(None).warnings,
        height,
    };
    // Not reached: a flow accepts whatever passed the checks.
    Graph::new(loaded, plan.region)
        .map_err(|error| faults.fault("", FaultKind::Setting, error.message()))
        .ok()
}

fn nodes(
    file: &GraphFile,
    links: &check::Links,
    (roles, called): (&[Role], &[Vec<ToolLink>]),
    context: LoadContext<'_>,
    faults: &mut Faults,
) -> Option<(Vec<LoadedNode>, Vec<Facts>)> {
    let mut late = Faults::default();
    let mut loaded_nodes = Vec::new();
    let mut facts = Vec::new();
    for (at, node) in file.nodes.iter().enumerate() {
        let mut of = Facts {
            handles: vec![DEFAULT.to_owned()],
            role: roles[at],
            ..Facts::default()
        };
        let kind = context.registry.0.types.get(&node.kind);
        // A missing type was already reported.
        if kind.is_none() && !node.kind.is_empty() {
            let at = format!("{}/type", node.at);
            let message = format!("no node type {:?}", shown(&node.kind));
            let type_names = context.registry.types().map(|(name, _)| name);
            faults.unknown(
                true,
                at,
                FaultKind::UnknownType,
                message,
                &node.kind,
                type_names,
            );
        }
        let mut loader = NodeLoader {
            node,
            is_react_flow: file.is_react_flow,
            context,
            links: &called[at],
            subgraph: None,
            call: None,
            limits: Limits::new(),
            facts: &mut of,
            faults,
            late: &mut late,
        };
        let loaded = kind
            .filter(|_| !node.is_faulty)
            .and_then(|kind| loader.load(kind));
        facts.push(Some(of).filter(|_| loaded.is_some()));
        loaded_nodes.push(loaded);
    }
    if links.calls_are_known {
        let calls_are_known = check::handles(file, links, &facts, faults);
        if calls_are_known && links.by(TOOL_CALL).all(|(_, to, _)| facts[to].is_some()) {
            faults.append(late);
        }
    }
    let all = loaded_nodes
        .into_iter()
        .zip(facts)
        .map(|(loaded, facts)| loaded.zip(facts));
    all.collect::<Option<Vec<_>>>()
        .filter(|_| faults.is_empty())
        .map(|all| all.into_iter().unzip())
}

impl NodeLoader<'_> {
    fn load(&mut self, kind: &Arc<dyn NodeType>) -> Option<LoadedNode> {
        let noted = self.faults.noted();
        let node = kind.load(self);
        if node.is_none() && self.faults.noted() == noted {
            let message = format!(
                "the type {:?} refused the node without saying why",
                kind.name()
            );
            self.faults
                .fault(&self.node.at, FaultKind::Setting, message);
        }
        let waits = self
            .node
            .data
            .values
            .get("require_approval")
            .is_some_and(|value| value == true);
        self.facts.pauses |= waits;
        // A `tool` that pauses waits as one.
        let approval =
            waits || self.facts.pauses && self.subgraph.is_none() && self.node.kind == "tool";
        self.facts.handles.push(ERROR.to_owned());
        if approval {
            self.facts.handles.push(REJECTED.to_owned());
        }
        Some(LoadedNode {
            id: self.node.id.clone(),
            label: self.label().to_owned(),
            kind: kind.name().to_owned(),
            node: node?,
            approval,
            error_edge: false,
            rejected_edge: false,
            subgraph: self.subgraph.take(),
            settings: Settings::new().limits(self.limits),
            call: self.call.take(),
            untrusted: self.facts.untrusted,
            handles: self
                .facts
                .handles
                .iter()
                .filter(|one| *one != TOOL_CALL)
                .cloned()
                .collect(),
        })
    }
}

fn add_edges(
    loaded_nodes: &mut [LoadedNode],
    facts: &[Facts],
    links: &check::Links,
    file: &GraphFile,
) {
    for link in &links.edges {
        let loaded_node = &mut loaded_nodes[link.from];
        loaded_node.error_edge |= link.handle == ERROR;
        loaded_node.rejected_edge |= link.handle == REJECTED;
    }
    for (from, to, _) in links.by(TOOL_CALL) {
        let handle = format!("{TOOL_CALL}:{}", file.nodes[to].id);
        if facts[to].role == Role::Step && !loaded_nodes[from].handles.contains(&handle) {
            loaded_nodes[from].handles.push(handle);
        }
    }
}
