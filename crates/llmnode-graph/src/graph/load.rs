//! Loading: from a text to a checked graph, with everything that is wrong with it.

use std::any::TypeId;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use llmnode_flow::private::Bounds;
use llmnode_runtime::Limits;
use llmnode_runtime::internal::{hashed, one_line};
use schemars::JsonSchema;
use serde_json::Value;

use crate::check;
use crate::facts::{Facts, Handles, Role};
use crate::faults::{FaultKind, Faults, GraphFaults, shown};
use crate::file::{self, GraphFile};
use crate::graph::Graph;
use crate::graph::door::Loading;
use crate::graph::folder::text_of;
use crate::graph::loaded::{Inputs, Loaded, Unit};
use crate::graph::registry::Registered;
use crate::graph::roles::{ToolLink, roles};
use crate::graph::step::{DEFAULT, ERROR, REJECTED};
use crate::state::Rules;
use crate::template::key;

/// How deep subgraphs may stand within a graph.
const DEPTH: usize = 5;
/// How many requests a run makes at most, if neither its limits nor the file say how many.
const REQUESTS: u64 = 500;

/// What is made once while a graph is loaded.
#[derive(Default)]
pub(crate) struct Known {
    /// Subgraphs by name.
    graphs: RefCell<HashMap<String, Result<Graph, GraphFaults>>>,
    /// The schemas of settings, by their types.
    schemas: RefCell<HashMap<TypeId, Rc<Value>>>,
}

impl Around<'_> {
    /// The schema of a type.
    pub(crate) fn schema_of<T: JsonSchema + 'static>(&self) -> Rc<Value> {
        let mut schemas = self.known.schemas.borrow_mut();
        let schema =
            schemas.entry(TypeId::of::<T>()).or_insert_with(|| Rc::new(schemars::schema_for!(T).to_value()));
        Rc::clone(schema)
    }
}

/// The graphs around one that is loaded.
#[derive(Clone, Copy)]
pub(crate) struct Around<'l> {
    /// Their names, the outermost first.
    names: &'l [String],
    /// Files that were loaded already.
    known: &'l Known,
}

pub(crate) fn parse(text: &str, registry: &Registered) -> Result<Graph, GraphFaults> {
    load(text, None, registry, Around { names: &[], known: &Known::default() })
}

pub(crate) fn open(name: &str, registry: &Registered) -> Result<Graph, GraphFaults> {
    let mut faults = Faults::default();
    match text_of(name, registry) {
        Ok(text) => load(&text, Some(name), registry, Around { names: &[], known: &Known::default() }),
        Err(wrong) => {
            wrong.note("", name, registry, &mut faults);
            Err(faults.into_parts(Some(shown(name))))
        }
    }
}

/// Loads the graph to which a node leads. What is wrong with it is noted.
pub(crate) fn subgraph(node: &mut Loading<'_>, name: &str) -> Option<Graph> {
    let Around { names, known } = node.around;
    let place = node.node.data.pointer("/flow_id");
    if let Some(at) = names.iter().position(|one| one == name) {
        let path = names[at..].iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join(" > ");
        node.faults.fault(
            place,
            FaultKind::Nesting,
            format!("the graph contains itself: {}", one_line(path, 300)),
        );
        return None;
    }
    let too_deep = |height: usize| names.len() + height > DEPTH;
    if too_deep(0) {
        let path = names.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join(" > ");
        let message =
            format!("graphs stand more than {DEPTH} deep within each other: {}", one_line(path, 300));
        node.faults.fault(place, FaultKind::Nesting, message);
        return None;
    }
    let loaded = known.graphs.borrow().get(name).cloned();
    let loaded = match loaded {
        Some(loaded) => loaded,
        None => {
            let text = match text_of(name, node.registry) {
                Ok(text) => text,
                Err(wrong) => {
                    wrong.note(&place, name, node.registry, node.faults);
                    return None;
                }
            };
            let loaded = load(&text, Some(name), node.registry, node.around);
            known.graphs.borrow_mut().insert(name.to_owned(), loaded.clone());
            loaded
        }
    };
    match loaded {
        Ok(graph) if too_deep(graph.height()) => {
            let message = format!(
                "graphs stand more than {DEPTH} deep within each other: {:?} holds {} more",
                shown(name),
                graph.height()
            );
            node.faults.fault(place, FaultKind::Nesting, message);
            None
        }
        Ok(graph) => {
            let warnings =
                GraphFaults { graph: None, faults: Vec::new(), warnings: graph.warnings().to_vec() };
            node.faults.absorb(&node.node.at, name, warnings);
            Some(graph)
        }
        Err(inner) => {
            node.faults.absorb(&node.node.at, name, inner);
            None
        }
    }
}

fn load(
    text: &str,
    name: Option<&str>,
    registry: &Registered,
    around: Around<'_>,
) -> Result<Graph, GraphFaults> {
    let mut faults = Faults::default();
    let graph = loaded(text, name, registry, around, &mut faults);
    match graph {
        Some((mut loaded, region, own)) if faults.is_empty() => {
            loaded.warnings = faults.into_parts(None).warnings;
            Graph::new(loaded, region).map_err(|error| {
                // The checks let nothing through that a flow refuses.
                let mut faults = Faults::default();
                faults.fault("", FaultKind::Setting, error.message());
                faults.into_parts(own)
            })
        }
        Some((.., own)) => Err(faults.into_parts(own)),
        None => Err(faults.into_parts(name.map(str::to_owned))),
    }
}

type Checked = (Loaded, check::Region, Option<String>);

fn loaded(
    text: &str,
    name: Option<&str>,
    registry: &Registered,
    around: Around<'_>,
    faults: &mut Faults,
) -> Option<Checked> {
    let file = file::read(text, faults)?;
    let own = Some(file.name.clone()).filter(|name| !name.is_empty()).or_else(|| name.map(str::to_owned));
    // The root has a place among the graphs around its subgraphs, whatever its name.
    let names: Vec<String> =
        around.names.iter().cloned().chain([name.unwrap_or_default().to_owned()]).collect();
    let around = Around { names: &names, ..around };
    let links = check::links(&file, faults);
    let (roles, called) = roles(&file, &links);
    let mut facts = Vec::with_capacity(file.nodes.len());
    let mut units = Vec::with_capacity(file.nodes.len());
    for (at, role) in roles.into_iter().enumerate() {
        let (fact, unit) = node(&file, at, role, &called[at], registry, around, faults);
        facts.push(fact);
        units.push(unit);
    }
    pauses_of_tools(&mut facts, &called);
    let plan = check::check(&file, &links, &facts, faults);
    let (plan, units) = (plan?, units.into_iter().collect::<Option<Vec<Unit>>>()?);
    let facts: Vec<Facts> = facts.into_iter().flatten().collect();
    let units = with_edges(units, &facts, &links);
    let height =
        units.iter().filter_map(|unit| Some(unit.subgraph.as_ref()?.height() + 1)).max().unwrap_or(0);
    let ids = file.nodes.iter().enumerate().map(|(at, node)| (node.id.clone(), at)).collect();
    let untrusted = untrusted(&facts);
    let limits = Limits::new();
    let limits = file.limits.requests.map_or(limits, |requests| limits.requests(requests));
    let limits = file.limits.tokens.map_or(limits, |tokens| limits.tokens(tokens));
    let limits = file.limits.money.map_or(limits, |money| limits.money(money));
    // An approval is of the graph with all that is within it.
    let within: String =
        units.iter().filter_map(|unit| Some(unit.subgraph.as_ref()?.loaded.hash.as_str())).collect();
    let hash = hashed(format!("{text}{within}").as_bytes());
    let loaded = Loaded {
        name: own.clone().unwrap_or_default(),
        hash,
        rules: Rules(file.state),
        units,
        ids,
        inputs: Inputs {
            declared: file.inputs,
            read: plan.needs.into_iter().collect(),
            open: file.open_inputs,
        },
        bounds: Bounds { max_steps: file.max_steps, limits, requests: Some(REQUESTS) },
        facts: whole(&facts),
        untrusted,
        warnings: Vec::new(),
        height,
    };
    Some((loaded, plan.region, own))
}

/// Loads one node. If something is wrong with it, it is noted, and what is known of the node is given all the same.
fn node(
    file: &GraphFile,
    at: usize,
    role: Role,
    links: &[ToolLink],
    registry: &Registered,
    around: Around<'_>,
    faults: &mut Faults,
) -> (Option<Facts>, Option<Unit>) {
    let node = &file.nodes[at];
    if node.id.is_empty() || node.kind.is_empty() {
        return (None, None);
    }
    let Some(kind) = registry.node_type(&node.kind) else {
        let (at, message) = (format!("{}/type", node.at), format!("no node type {:?}", shown(&node.kind)));
        let known = registry.types().map(|(name, _)| name);
        faults.unknown(true, at, FaultKind::UnknownType, message, &node.kind, known);
        return (None, None);
    };
    let mut facts = Facts {
        handles: Handles { known: vec![DEFAULT.to_owned()], ..Handles::default() },
        pauses: node.require_approval,
        role,
        ..Facts::default()
    };
    let before = faults.noted();
    let (facts_of, faults_of) = (&mut facts, &mut *faults);
    let mut loading = Loading {
        node,
        form: file.form,
        registry,
        links,
        around,
        subgraph: None,
        facts: facts_of,
        faults: faults_of,
    };
    let made = kind.load(&mut loading);
    let subgraph = loading.subgraph.take();
    // A node whose type says nothing of a tool that waits waits as a whole.
    let approval = node.require_approval || facts.pauses && subgraph.is_none() && node.kind == "tool";
    facts.handles.known.push(ERROR.to_owned());
    if approval {
        facts.handles.known.push(REJECTED.to_owned());
    }
    facts.faulty = faults.noted() > before;
    let Some(made) = made else {
        if !facts.faulty {
            let message =
                format!("the type {:?} could not read the node, and does not say why", shown(&node.kind));
            faults.fault(&node.at, FaultKind::Setting, message);
        }
        // What it reads is known as far as it was read, and of its handles nothing.
        (facts.faulty, facts.handles.open) = (true, true);
        return (Some(facts).filter(|_| !node.is_double), None);
    };
    if node.is_double {
        // Its settings were looked at; it has no place in the graph.
        return (None, None);
    }
    let unit = Unit {
        id: node.id.clone(),
        label: node.label.clone().unwrap_or_else(|| node.id.clone()),
        kind: kind.name().to_owned(),
        node: made,
        approval,
        error_edge: false,
        rejected_edge: false,
        subgraph,
        handles: facts.handles.known.clone(),
    };
    (Some(facts), Some(unit))
}

/// An agent waits where a node waits that it calls.
fn pauses_of_tools(facts: &mut [Option<Facts>], called: &[Vec<ToolLink>]) {
    let waits = |facts: &[Option<Facts>], at: usize| facts[at].as_ref().is_some_and(|facts| facts.pauses);
    let mut changed = true;
    while changed {
        changed = false;
        for (at, links) in called.iter().enumerate() {
            let waits_within =
                links.iter().filter(|link| link.is_called()).any(|link| waits(facts, link.node));
            if let Some(own) = facts[at].as_mut().filter(|own| waits_within && !own.pauses) {
                own.pauses = true;
                changed = true;
            }
        }
    }
}

/// The nodes with what their edges say: the handles of calls are told apart by their targets.
fn with_edges(mut units: Vec<Unit>, facts: &[Facts], links: &check::Links) -> Vec<Unit> {
    let ids: Vec<String> = units.iter().map(|unit| unit.id.clone()).collect();
    for unit in &mut units {
        unit.handles.retain(|handle| handle != crate::graph::roles::TOOL_CALL);
    }
    for link in &links.edges {
        let unit = &mut units[link.from];
        match (link.handle.as_str(), link.to) {
            (ERROR, _) => unit.error_edge = true,
            (REJECTED, _) => unit.rejected_edge = true,
            (crate::graph::roles::TOOL_CALL, check::To::Node(to)) => {
                let handle = format!("{}:{}", crate::graph::roles::TOOL_CALL, ids[to]);
                let leads_on = facts[to].role == Role::Step;
                if leads_on && !unit.handles.contains(&handle) {
                    unit.handles.push(handle);
                }
            }
            _ => {}
        }
    }
    units
}

/// What the graph is as a whole.
fn whole(facts: &[Facts]) -> Facts {
    let keys = |of: fn(&Facts) -> &Vec<String>| -> Vec<String> {
        let keys: BTreeSet<&String> =
            facts.iter().filter(|one| one.role == Role::Step).flat_map(of).collect();
        keys.into_iter().cloned().collect()
    };
    Facts {
        pauses: facts.iter().any(|one| one.pauses),
        writes: keys(|one| &one.writes),
        also_writes: keys(|one| &one.also_writes),
        writes_anything: facts.iter().any(|one| one.writes_anything),
        untrusted: facts.iter().any(|one| one.untrusted),
        ..Facts::default()
    }
}

/// The keys that models, tools and stores write, and what iterators take out of them; and what an error says.
fn untrusted(facts: &[Facts]) -> BTreeSet<String> {
    let writes = |facts: &Facts| facts.writes.iter().chain(&facts.also_writes).cloned().collect::<Vec<_>>();
    let mut found: BTreeSet<String> = facts.iter().filter(|one| one.untrusted).flat_map(writes).collect();
    found.insert(ERROR.to_owned());
    loop {
        let taken =
            |one: &&Facts| one.iterator && one.reads.iter().any(|read| found.contains(key(&read.name)));
        let more: Vec<String> = facts.iter().filter(taken).flat_map(writes).collect();
        let before = found.len();
        found.extend(more);
        if found.len() == before {
            return found;
        }
    }
}
