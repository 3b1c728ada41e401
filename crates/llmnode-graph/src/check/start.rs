//! Where a graph starts. Nothing is guessed.

use crate::check::Links;
use crate::faults::{FaultKind, Faults, listed, shown};
use crate::file::{GraphFile, NodeFile};
use crate::shape::{Shape, To};

const REMEDY: &str = "say by \"isStart\": true in the data of one node where it starts";

/// The start: the one `isStart`, else the one target of `start`, else the one node to which no edge leads. `is_broken`:
/// edges are missing, so that nothing follows from there being none.
pub(super) fn start(
    file: &GraphFile,
    links: &Links,
    shape: &Shape,
    steps: &[bool],
    is_broken: bool,
    faults: &mut Faults,
) -> Option<usize> {
    let ids = |nodes: &[usize]| listed(nodes.iter().map(|node| file.nodes[*node].id.as_str()));
    let flagged: Vec<usize> = (0..file.nodes.len()).filter(|node| file.nodes[*node].is_start).collect();
    match &*flagged {
        [] => {}
        [only] => return step(&file.nodes[*only], *only, steps, faults),
        [_, second, ..] => {
            let message = format!("a graph has one start, and {} have \"isStart\": keep one", ids(&flagged));
            faults.fault(format!("{}/isStart", file.nodes[*second].data.at), FaultKind::Start, message);
            return None;
        }
    }
    let mut starts: Vec<usize> = links.starts.iter().map(|(node, _)| *node).collect();
    starts.dedup();
    match (&*starts, &*links.starts) {
        ([only], _) => return step(&file.nodes[*only], *only, steps, faults),
        ([first, ..], all) => {
            let place = all.iter().find(|(node, _)| node != first).map_or("", |(_, at)| at);
            let message =
                format!("a graph has one start, and edges from the start lead to {}: keep one", ids(&starts));
            faults.fault(place, FaultKind::Start, message);
            return None;
        }
        ([], _) => {}
    }
    if is_broken {
        return None;
    }
    let first = without_incoming(shape, steps, |_| true);
    let found =
        if first.is_empty() { without_incoming(shape, steps, |handle| handle != "next") } else { first };
    match &*found {
        [only] => Some(*only),
        [] if steps.contains(&true) => {
            let message = format!("an edge leads to every node, so none is the first: {REMEDY}");
            faults.fault("/nodes", FaultKind::Start, message);
            None
        }
        [] => {
            faults.fault("/nodes", FaultKind::Start, "every node is a tool of another, so none is the first");
            None
        }
        several => {
            let message = format!("no edge leads to {}, so each may be the first: {REMEDY}", ids(several));
            faults.fault("/nodes", FaultKind::Start, message);
            None
        }
    }
}

/// The start, if it is a step.
fn step(node: &NodeFile, index: usize, steps: &[bool], faults: &mut Faults) -> Option<usize> {
    if steps[index] || node.is_double {
        return steps[index].then_some(index);
    }
    let message = format!("{:?} is a tool of an agent, and the start has to be a step", shown(&node.id));
    faults.fault(&node.at, FaultKind::Start, message);
    None
}

/// The steps to which no edge leads but from themselves; edges of some handles do not count.
fn without_incoming(shape: &Shape, steps: &[bool], counts: impl Fn(&str) -> bool) -> Vec<usize> {
    let mut has_incoming = vec![false; steps.len()];
    for (from, handles) in shape.ways.iter().enumerate() {
        for way in handles.iter().filter(|handle| counts(&handle.name)).flat_map(|handle| &handle.to) {
            if let To::Node(to) = way.to
                && to != from
            {
                has_incoming[to] = true;
            }
        }
    }
    (0..steps.len()).filter(|node| steps[*node] && !has_incoming[*node]).collect()
}
