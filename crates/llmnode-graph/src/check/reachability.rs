//! Checks that all steps are reached, and lead to the end.

use super::start::Start;
use super::step_graph::StepGraph;
use crate::facts::Facts;
use crate::faults::{FaultKind, Faults, listed, shown};
use crate::file::GraphFile;
use crate::shape::{endless, reach, unreachable};

pub(super) struct Roots {
    pub(super) start: Option<usize>,
    /// Nodes before which others may have run: possible starts, unreached nodes, targets of edges from unknown nodes.
    pub(super) others: Vec<usize>,
    /// Those of them with an edge from a node that is not in the file.
    pub(super) foreign: Vec<usize>,
    pub(super) reached: Vec<bool>,
}

pub(super) fn check(
    file: &GraphFile,
    facts: &[Facts],
    step_graph: &StepGraph<'_>,
    steps: &[bool],
    start: &Start,
    faults: &mut Faults,
) -> Roots {
    let shape = &step_graph.shape;
    let name = |node: &usize| file.nodes[*node].id.as_str();
    let (known, mut others) = match start {
        Start::At(start) => (Some(*start), Vec::new()),
        Start::Among(nodes) => (None, nodes.clone()),
    };
    others.extend(step_graph.entered.iter().map(|(node, _)| *node).filter(|node| known != Some(*node)));
    let roots: Vec<usize> = known.iter().chain(&others).copied().collect();
    let reached = reach(shape, &roots);
    for group in unreachable(shape, &reached, steps) {
        if !step_graph.has_unknown_target {
            let from = match known {
                Some(start) => format!("the start {:?}", shown(name(&start))),
                None => "the start".to_owned(),
            };
            let message = format!(
                "no path leads from {from} to {}: add an edge to it, or remove it",
                listed(group.iter().map(name))
            );
            faults.fault(&file.nodes[group[0]].at, FaultKind::Unreachable, message);
        }
        // Those that no other of the group leads to; in a cycle, all.
        let has_edge =
            |node: &&usize| group.iter().any(|from| from != *node && step_graph.shape.leads(*from, **node));
        let first: Vec<usize> = group.iter().filter(|node| !has_edge(node)).copied().collect();
        others.extend(if first.is_empty() { group } else { first });
    }
    // An edge with an unknown source may leave from there.
    let groups = if step_graph.unknown_sources.is_empty() { endless(shape, &reached) } else { Vec::new() };
    let leaves = |node: &usize| facts[*node].handles.allows_unknown;
    for group in groups.iter().filter(|group| !group.iter().any(leaves)) {
        let message = match &**group {
            [only] => format!("{:?} leads only to itself, so a run never ends", shown(name(only))),
            group => {
                format!("{} lead only to one another, so a run never ends", listed(group.iter().map(name)))
            }
        };
        let message = format!("{message}: add an edge that leads out, for instance to \"END\"");
        faults.fault(&file.nodes[group[0]].at, FaultKind::Endless, message);
    }
    unclosed(file, facts, step_graph, faults);
    let foreign =
        step_graph.entered.iter().filter(|(_, is_foreign)| *is_foreign).map(|(node, _)| *node).collect();
    Roots { start: known, others, foreign, reached }
}

/// Warns of loops that no path leads back to.
fn unclosed(file: &GraphFile, facts: &[Facts], step_graph: &StepGraph<'_>, faults: &mut Faults) {
    let is_entered = |node: &usize| step_graph.entered.iter().any(|(to, _)| to == node);
    for node in (0..facts.len()).filter(|node| facts[*node].iterates.is_some() && !is_entered(node)) {
        let next: Vec<_> = step_graph.shape.ways[node]
            .iter()
            .filter(|one| one.name == "next")
            .flat_map(|one| &one.to)
            .collect();
        let body: Vec<usize> = next.iter().filter_map(|way| way.to.node()).collect();
        let reached = reach(&step_graph.shape, &body);
        let unknown_exits =
            (0..facts.len()).any(|node| reached[node] && step_graph.shape.unknown_exits[node]);
        if !next.is_empty() && !reached[node] && !unknown_exits {
            let id = shown(&file.nodes[node].id);
            let message = format!(
                "no path from \"next\" leads back to {id:?}, so only the first item is taken: add an edge back to {id:?}"
            );
            faults.warn(&file.nodes[node].at, FaultKind::MissingEdge, message);
        }
    }
}
