//! Checks that all steps are reached, and lead to the end.

use crate::facts::Facts;
use crate::faults::{FaultKind, Faults, listed, shown};
use crate::file::GraphFile;
use crate::shape::{Shape, endless, reach, unreachable};

pub(super) fn check(
    file: &GraphFile,
    facts: &[Facts],
    (shape, start): (&Shape, usize),
    steps: &[bool],
    faults: &mut Faults,
) {
    let name = |node: &usize| file.nodes[*node].id.as_str();
    let reached = reach(shape, &[start]);
    for group in unreachable(shape, &reached, steps) {
        let message = format!(
            "no path leads from the start {:?} to {}: add an edge to it, or remove it",
            shown(name(&start)),
            listed(group.iter().map(name))
        );
        faults.fault(&file.nodes[group[0]].at, FaultKind::Unreachable, message);
    }
    for group in endless(shape, &reached) {
        let message = match &*group {
            [only] => format!("{:?} leads only to itself, so a run never ends", shown(name(only))),
            group => {
                format!("{} lead only to one another, so a run never ends", listed(group.iter().map(name)))
            }
        };
        let message = format!("{message}: add an edge that leads out, for instance to \"END\"");
        faults.fault(&file.nodes[group[0]].at, FaultKind::Endless, message);
    }
    unclosed(file, facts, shape, faults);
}

fn unclosed(file: &GraphFile, facts: &[Facts], shape: &Shape, faults: &mut Faults) {
    for node in (0..facts.len()).filter(|node| facts[*node].iterates.is_some()) {
        let next: Vec<_> =
            shape.ways[node].iter().filter(|one| one.name == "next").flat_map(|one| &one.to).collect();
        let body: Vec<usize> = next.iter().filter_map(|way| way.to.node()).collect();
        if !next.is_empty() && !reach(shape, &body)[node] {
            let id = shown(&file.nodes[node].id);
            let message = format!(
                "no path from \"next\" leads back to {id:?}, so only the first item is taken: add an edge back to {id:?}"
            );
            faults.warn(&file.nodes[node].at, FaultKind::MissingEdge, message);
        }
    }
}
