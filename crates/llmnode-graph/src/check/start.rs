//! Finds where a graph starts. Nothing is guessed.

use super::Links;
use super::step_graph::StepGraph;
use crate::facts::Facts;
use crate::faults::{FaultKind, Faults, listed, shown};
use crate::file::{GraphFile, IdState};
use crate::shape::{Shape, To};
use crate::template::key;

const REMEDY: &str = "set \"isStart\": true in the data of the first node";

pub(super) enum Start {
    At(usize),
    Among(Vec<usize>),
}

/// The start: the one `isStart`, else the one target of `start`, else the one node without an incoming edge. If there
/// is none, it is the iterator of an input, else the one node to which only `next` leads.
pub(super) fn start(
    file: &GraphFile,
    links: &Links,
    step_graph: &StepGraph<'_>,
    (facts, steps): (&[Facts], &[bool]),
    faults: &mut Faults,
) -> Start {
    let ids = |nodes: &[usize]| listed(nodes.iter().map(|node| file.nodes[*node].id.as_str()));
    let is_step = |node: &usize| steps[*node];
    let flagged: Vec<usize> = (0..file.nodes.len()).filter(|node| file.nodes[*node].is_start).collect();
    match &*flagged {
        [] => {}
        [only] => return step(file, *only, steps, faults),
        [_, second, ..] => {
            let message = format!("{} have \"isStart\", but a graph has one start: keep one", ids(&flagged));
            faults.fault(format!("{}/isStart", file.nodes[*second].data.at()), FaultKind::Start, message);
            return Start::Among(flagged.into_iter().filter(is_step).collect());
        }
    }
    let mut starts: Vec<usize> = links.starts.iter().map(|(node, _)| *node).collect();
    starts.dedup();
    match (&*starts, &*links.starts) {
        ([only], _) => return step(file, *only, steps, faults),
        ([first, ..], all) => {
            let place = all.iter().find(|(node, _)| node != first).map_or("", |(_, at)| at);
            let message =
                format!("edges lead from the start to {}, but a graph has one start: keep one", ids(&starts));
            faults.fault(place, FaultKind::Start, message);
            return Start::Among(starts.into_iter().filter(is_step).collect());
        }
        ([], _) => {}
    }
    let mut found = without_incoming(&step_graph.shape, steps, |_, _| true);
    let is_cycle = found.is_empty();
    if is_cycle {
        found = starts_of_cycle(file, step_graph, facts, steps);
    }
    found.retain(|node| step_graph.entered.iter().all(|(entered, _)| entered != node));
    let message = match &*found {
        [only] if !links.start_is_unknown => return Start::At(*only),
        // The start may be a node whose id is wrong or missing.
        [] if step_graph.unknown_sources.is_empty()
            && file.nodes.iter().all(|node| node.id_state != IdState::Invalid)
            && !file.nodes.is_empty() =>
        {
            match steps.contains(&true) {
                true => format!("an edge leads to every node, so none is the first: {REMEDY}"),
                false => {
                    "every node is a tool of another, so none is the first: add an agent that calls them"
                        .to_owned()
                }
            }
        }
        // An edge with an unknown target may lead to one of them.
        [_, _, ..] if is_cycle && !step_graph.has_unknown_target => {
            format!("an edge leads to every node, and {} may each be the first: {REMEDY}", ids(&found))
        }
        [_, _, ..] if !step_graph.has_unknown_target => {
            format!("no edge leads to {}, so each may be the first: {REMEDY}", ids(&found))
        }
        _ => String::new(),
    };
    if !message.is_empty() {
        faults.fault("/nodes", FaultKind::Start, message);
    }
    let all = || (0..steps.len()).filter(is_step).collect();
    Start::Among(if found.is_empty() { all() } else { found })
}

fn starts_of_cycle(
    file: &GraphFile,
    step_graph: &StepGraph<'_>,
    facts: &[Facts],
    steps: &[bool],
) -> Vec<usize> {
    let is_of_input = |node: usize| {
        let list = facts[node].iterates.as_ref().filter(|_| steps[node]);
        list.is_some_and(|list| file.inputs.contains_key(key(&list.name)))
    };
    // The body of such an iterator comes after it.
    let counts = |from, handle: &str| handle != "next" || is_of_input(from);
    let others = without_incoming(&step_graph.shape, steps, counts);
    (0..steps.len()).filter(|node| is_of_input(*node) || others.contains(node)).collect()
}

fn step(file: &GraphFile, node: usize, steps: &[bool], faults: &mut Faults) -> Start {
    if steps[node] {
        return Start::At(node);
    }
    let of = &file.nodes[node];
    if of.id_state != IdState::Invalid {
        let message = format!(
            "{:?} is a tool of an agent, so it cannot be the start: start at the agent",
            shown(&of.id)
        );
        faults.fault(&of.at, FaultKind::Start, message);
    }
    Start::Among((0..steps.len()).filter(|node| steps[*node]).collect())
}

/// Edges from the node itself do not count, nor those for which `counts` is false.
fn without_incoming(shape: &Shape, steps: &[bool], counts: impl Fn(usize, &str) -> bool) -> Vec<usize> {
    let mut has_incoming = vec![false; steps.len()];
    for (from, handles) in shape.ways.iter().enumerate() {
        for way in handles.iter().filter(|handle| counts(from, &handle.name)).flat_map(|handle| &handle.to) {
            if let To::Node(to) = way.to
                && to != from
            {
                has_incoming[to] = true;
            }
        }
    }
    (0..steps.len()).filter(|node| steps[*node] && !has_incoming[*node]).collect()
}
