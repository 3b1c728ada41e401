//! Checks that all steps are reached, and lead to the end.

use super::step_graph::StepGraph;
use crate::faults::{FaultKind, Faults};
use crate::shape::{To, endless, reach, unreachable};

impl StepGraph<'_> {
    pub(super) fn reachability(&self, start: usize, faults: &mut Faults) {
        let StepGraph {
            file,
            shape,
            is_step,
            ..
        } = self;
        let reached = reach(shape, &[start]);
        for group in unreachable(shape, &reached, is_step) {
            let start = file.id(start);
            let lost = file.ids(&group);
            let message = format!(
                "no path leads from the start {start:?} to {lost}: add an edge to it, or remove it"
            );
            faults.fault(&file.nodes[group[0]].at, FaultKind::Unreachable, message);
        }
        for group in endless(shape, &reached) {
            let ids = file.ids(&group);
            let lead = if group.len() == 1 {
                "leads only to itself"
            } else {
                "lead only to one another"
            };
            let message = format!(
                "{ids} {lead}, so a run never ends: add an edge that leads out, for instance to \"END\""
            );
            faults.fault(&file.nodes[group[0]].at, FaultKind::Endless, message);
        }
        self.unclosed(faults);
    }

    fn unclosed(&self, faults: &mut Faults) {
        let StepGraph {
            file, facts, shape, ..
        } = self;
        for node in (0..facts.len()).filter(|node| facts[*node].iterates.is_some()) {
            let next = shape.ways[node].iter().filter(|one| one.name == "next");
            let next: Vec<To> = next
                .flat_map(|one| one.to.iter().map(|way| way.to))
                .collect();
            let body: Vec<usize> = next.iter().filter_map(|to| to.node()).collect();
            if !next.is_empty() && !reach(shape, &body)[node] {
                let id = file.id(node);
                let message = format!(
                    "no path from \"next\" leads back to {id:?}, so only the first item is taken: add an edge back to {id:?}"
                );
                faults.warn(&file.nodes[node].at, FaultKind::MissingEdge, message);
            }
        }
    }
}
