//! Checks that the nodes and edges of a file make one graph that runs: handles, start, paths, forks, data.
//!
//! In all further checks a fault counts as corrected by its proposal. If it is unclear what was intended, the place is
//! unknown, and nothing is reported that may only follow from it.

mod dataflow;
mod forks;
mod handles;
mod keys;
mod links;
mod order;
mod reachability;
mod reads_writes;
mod start;
#[cfg(test)]
mod tests;
mod types;

use std::collections::HashMap;

pub(crate) use self::links::{Link, Links, links};
use crate::facts::{Facts, Role};
use crate::faults::Faults;
use crate::file::GraphFile;
pub(crate) use crate::shape::{Fork, Next, Region, To};
use crate::shape::{Handle, OutEdge, Shape, region};

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) region: Region,
    /// Read and never written, sorted: if a file does not declare its inputs, a run has to be given these.
    pub(crate) needs: Vec<String>,
}

/// Handles that do not continue the flow: if they have no edge, nothing ends.
const NON_FLOW_HANDLES: &[&str] = &["error", "rejected", "tool-call"];

/// `facts`: of each node of the file. `None`: there are faults.
pub(crate) fn check(file: &GraphFile, links: &Links, facts: &[Facts], faults: &mut Faults) -> Option<Plan> {
    let handles = handles::check(file, links, facts, faults);
    let steps: Vec<bool> = facts.iter().map(|facts| facts.role == Role::Step).collect();
    let step_graph = step_graph(file, links, facts, &steps, &handles);
    let start = start::start(file, links, &step_graph, (facts, &steps), faults);
    let roots = reachability::check(file, facts, &step_graph, &steps, &start, faults);
    let found = forks::check(file, facts, &step_graph, &roots, faults);
    let needs = reads_writes::ReadsWrites { file, facts, steps: &steps }.check(
        &step_graph.shape,
        &roots,
        &found,
        faults,
    );
    types::check(file, facts, faults);
    let start = roots.start.filter(|_| faults.is_empty())?;
    Some(Plan { region: region(&step_graph.shape, start, &found), needs })
}

struct StepGraph<'l> {
    shape: Shape,
    edges: Vec<&'l Link>,
    /// Targets of edges with an unknown source, and whether that source is missing in the file.
    entered: Vec<(usize, bool)>,
    unknown_sources: Vec<&'l Link>,
    /// An edge has an unknown target, or is missing.
    has_unknown_target: bool,
}

fn step_graph<'l>(
    file: &GraphFile,
    links: &'l Links,
    facts: &[Facts],
    steps: &[bool],
    handles: &'l handles::Handles,
) -> StepGraph<'l> {
    let count = file.nodes.len();
    let mut ways: Vec<Vec<Handle>> = vec![Vec::new(); count];
    let mut places: HashMap<(usize, String), usize> = HashMap::new();
    let mut of_handle = |node: usize, name: String| {
        let ways = &mut ways[node];
        let place = *places.entry((node, name.clone())).or_insert_with(|| {
            // Edges of another node with the same id are not branches.
            ways.push(Handle { name, to: Vec::new(), unknown_exits: facts[node].has_shared_id });
            ways.len() - 1
        });
        (node, place)
    };
    let (mut edges, mut entered, mut unknown_sources) = (Vec::new(), Vec::new(), Vec::new());
    let (mut all, mut unknown_exits) = (Vec::new(), Vec::new());
    for (link, handle) in links.edges.iter().zip(&handles.of_edge) {
        let (to_step, to_node) = match link.to {
            Some(To::Node(to)) => (steps[to], Some(to)),
            _ => (true, None),
        };
        match link.from {
            None => {
                unknown_sources.push(link);
                entered.extend(to_node.filter(|_| to_step).map(|to| (to, link.is_foreign)));
            }
            Some(from) if steps[from] && to_step => {
                let name = match (handle.as_deref(), to_node) {
                    // Calls of the model are alternatives: one of them is taken.
                    (Some("tool-call"), Some(to)) => format!("tool-call:{}", file.nodes[to].id),
                    (Some(name), _) => name.to_owned(),
                    // An edge with an unknown handle does not run beside others.
                    (None, _) => format!("?{}", edges.len()),
                };
                let place = of_handle(from, name);
                match link.to {
                    Some(to) => all.push((place, OutEdge { to, edge: edges.len() })),
                    None => unknown_exits.push(place),
                }
                edges.push(link);
            }
            Some(_) => {}
        }
    }
    unknown_exits.extend(
        handles
            .missing
            .iter()
            .filter(|(node, _)| steps[*node])
            .map(|(node, name)| of_handle(*node, name.clone())),
    );
    let mut shape = Shape { ways, ends: vec![false; count], unknown_exits: vec![false; count] };
    for ((node, place), way) in all {
        let to = &mut shape.ways[node][place].to;
        // A misspelled edge may be the same as another.
        if to.iter().all(|other| other.to != way.to) {
            to.push(way);
        }
    }
    for (node, place) in &unknown_exits {
        shape.ways[*node][*place].unknown_exits = true;
        shape.unknown_exits[*node] = true;
    }
    for node in (0..count).filter(|node| steps[*node]) {
        let of = &facts[node].handles;
        let has = |handle: &str| shape.ways[node].iter().any(|one| one.name == handle);
        let is_way = |handle: &&str| {
            !NON_FLOW_HANDLES.contains(handle) && !of.required.iter().any(|one| one == handle)
        };
        let known = of.known.iter().map(String::as_str).chain(of.allows_unknown.then_some("default"));
        for handle in known.filter(is_way).filter(|handle| !has(handle)) {
            // An edge whose source is unknown may leave here.
            let may_leave = |link: &&Link| {
                let is_free = link.from.is_none() && (!link.has_shared_id || facts[node].has_shared_id);
                is_free && link.handle.as_deref().is_none_or(|by| by == handle)
            };
            match unknown_sources.iter().any(may_leave) {
                true => shape.unknown_exits[node] = true,
                false => shape.ends[node] = true,
            }
        }
    }
    let has_unknown_target = !unknown_exits.is_empty()
        || links.start_is_unknown
        || links.edges.iter().any(|link| link.from.is_none() && link.to.is_none());
    StepGraph { shape, edges, entered, unknown_sources, has_unknown_target }
}
