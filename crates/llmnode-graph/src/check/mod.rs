//! Whether the nodes and edges of a file make one graph that runs: handles, start, ways, forks, data.

mod data;
mod flat;
mod forks;
mod keys;
mod links;
mod start;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

pub(crate) use self::links::{Link, Links, links};
use crate::facts::{Facts, Role};
use crate::faults::{FaultKind, Faults, listed, shown};
use crate::file::GraphFile;
pub(crate) use crate::shape::{Fork, Next, Region, To};
use crate::shape::{Handle, Shape, Way, endless, reach, unreachable};

/// A graph as it runs.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) region: Region,
    /// What is read and never written, sorted: where a file does not say what its inputs are, a run has to be given it.
    pub(crate) needs: Vec<String>,
}

/// Handles that are no way on: where they have no edge, nothing ends.
const NO_WAYS: &[&str] = &["error", "rejected", "tool-call"];

/// Notes what is wrong with a graph whose nodes are known. `facts`: of each node of the file; `None`: it is faulty
/// itself, and nothing is said that may come of that.
pub(crate) fn check(
    file: &GraphFile,
    links: &Links,
    facts: &[Option<Facts>],
    faults: &mut Faults,
) -> Option<Plan> {
    let handles = handles(file, links, facts, faults);
    let is_broken = file.broken || links.broken || !handles;
    let steps: Vec<bool> = file
        .nodes
        .iter()
        .zip(facts)
        .map(|(node, facts)| !node.is_double && facts.as_ref().is_none_or(|facts| facts.role == Role::Step))
        .collect();
    let (shape, edges) = shape_of(file, links, facts, &steps);
    let start = start::start(file, links, &shape, &steps, is_broken, faults);
    let planned = if is_broken {
        None
    } else {
        start.and_then(|start| ways(file, facts, &shape, &steps, start, faults))
    };
    let planned = planned.and_then(|start| forks::check(file, &edges, facts, &shape, start, faults));
    let data = data::Data { file, facts, steps: &steps };
    let Some((start, region)) = planned else {
        data.check_names(faults);
        return None;
    };
    let needs = data.check(start, &region, faults);
    Some(Plan { region, needs })
}

/// Checks the handles of the edges; `false`: an edge has one that its node does not have.
fn handles(file: &GraphFile, links: &Links, facts: &[Option<Facts>], faults: &mut Faults) -> bool {
    let mut wrong = HashSet::new();
    let mut used: HashSet<(usize, &str)> = HashSet::new();
    for link in &links.edges {
        used.insert((link.from, &link.handle));
        let Some(of) = &facts[link.from] else { continue };
        if of.handles.open || of.handles.known.contains(&link.handle) || of.role == Role::Tool {
            continue;
        }
        wrong.insert(link.from);
        let node = shown(&file.nodes[link.from].id);
        let known = of.handles.known.iter().map(String::as_str);
        if link.handle == "default" {
            let message =
                format!("{node:?} has no default handle; name one of its handles as \"sourceHandle\"");
            faults.unknown(true, &link.at, FaultKind::UnknownHandle, message, "", known);
        } else {
            let message = format!("{node:?} has no handle {:?}", shown(&link.handle));
            let at = format!("{}/sourceHandle", link.at);
            faults.unknown(true, at, FaultKind::UnknownHandle, message, &link.handle, known);
        }
    }
    for (index, of) in facts.iter().enumerate() {
        let Some(of) = of else { continue };
        let node = &file.nodes[index];
        if node.is_double || of.faulty || wrong.contains(&index) {
            continue;
        }
        for handle in of.handles.required.iter().filter(|handle| !used.contains(&(index, handle.as_str()))) {
            let message = format!(
                "no edge leaves {:?} by the handle {:?}: add one with \"sourceHandle\": {:?}",
                shown(&node.id),
                shown(handle),
                shown(handle)
            );
            faults.fault(&node.at, FaultKind::MissingEdge, message);
        }
    }
    wrong.is_empty()
}

/// The graph of the steps, and the places of its edges in the file.
fn shape_of<'l>(
    file: &GraphFile,
    links: &'l Links,
    facts: &[Option<Facts>],
    steps: &[bool],
) -> (Shape, Vec<&'l Link>) {
    let count = file.nodes.len();
    let mut shape = Shape { ways: vec![Vec::new(); count], ends: vec![false; count] };
    let mut edges = Vec::new();
    let mut places: HashMap<(usize, String), usize> = HashMap::new();
    for link in &links.edges {
        let leads_to_step = match link.to {
            To::Node(to) => steps[to],
            To::End => true,
        };
        if !steps[link.from] || !leads_to_step {
            continue;
        }
        // Calls of the model: one of them is taken.
        let name = match link.to {
            To::Node(to) if link.handle == "tool-call" => format!("tool-call:{}", file.nodes[to].id),
            _ => link.handle.clone(),
        };
        let ways = &mut shape.ways[link.from];
        let place = *places.entry((link.from, name.clone())).or_insert_with(|| {
            ways.push(Handle { name, to: Vec::new() });
            ways.len() - 1
        });
        ways[place].to.push(Way { to: link.to, edge: edges.len() });
        edges.push(link);
    }
    for node in (0..count).filter(|node| steps[*node]) {
        let has = |handle: &str| shape.ways[node].iter().any(|one| one.name == handle);
        shape.ends[node] = match &facts[node] {
            None => shape.ways[node].is_empty(),
            Some(of) => {
                let mut ways = of.handles.known.iter().filter(|handle| !NO_WAYS.contains(&handle.as_str()));
                ways.any(|handle| !has(handle) && !of.handles.required.contains(handle))
                    || (of.handles.open && !has("default"))
            }
        };
    }
    (shape, edges)
}

/// Whether all steps are reached and lead to the end; then the start.
fn ways(
    file: &GraphFile,
    facts: &[Option<Facts>],
    shape: &Shape,
    steps: &[bool],
    start: usize,
    faults: &mut Faults,
) -> Option<usize> {
    let name = |node: &usize| file.nodes[*node].id.as_str();
    let reach = reach(shape, start);
    for group in unreachable(shape, &reach, steps) {
        let first = &file.nodes[group[0]];
        let message = match &*group {
            [only] => {
                format!("no path leads from the start {:?} to {:?}", shown(name(&start)), shown(name(only)))
            }
            group => format!(
                "no path leads from the start {:?} to {}",
                shown(name(&start)),
                listed(group.iter().map(name))
            ),
        };
        let message = format!("{message}: add an edge to it, or remove it");
        faults.fault(&first.at, FaultKind::Unreachable, message);
    }
    let stuck = endless(shape, &reach);
    // A faulty node may lead elsewhere.
    let is_known = |node: &usize| facts[*node].as_ref().is_some_and(|facts| !facts.faulty);
    for group in stuck.iter().filter(|group| group.iter().all(is_known)) {
        let message = match &**group {
            [only] => format!("{:?} leads only to itself, for ever", shown(name(only))),
            group => format!("{} lead only to one another, for ever", listed(group.iter().map(name))),
        };
        let message = format!("{message}: add an edge that leaves, to \"END\" for instance");
        faults.fault(&file.nodes[group[0]].at, FaultKind::Endless, message);
    }
    stuck.is_empty().then_some(start)
}
