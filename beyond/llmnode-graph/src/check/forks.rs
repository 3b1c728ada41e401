//! Reports what is wrong with the branches of forks.

use std::collections::HashSet;

use super::step_graph::StepGraph;
use crate::faults::{FaultKind, Faults};
use crate::shape::{BadFork, DEPTH, ForkProblem, FoundFork, To, forks};

impl StepGraph<'_> {
    pub(super) fn forks(&self, start: usize, faults: &mut Faults) -> Vec<FoundFork> {
        let (found, bad) = forks(&self.shape, start);
        for bad in &bad {
            let (at, kind, message) = self.bad_fork(bad);
            faults.fault(at, kind, message);
        }
        let mut reported = HashSet::new();
        for fork in &found {
            let (from, join) = (self.node(fork.from), self.join(fork.join));
            for node in fork
                .branches
                .iter()
                .flatten()
                .filter(|node| self.facts[**node].pauses)
            {
                if reported.insert(*node) {
                    let message = format!(
                        "waits for an approval in a branch of the fork at {from}, while other branches run: move it before {from}, or behind {join}"
                    );
                    faults.fault(&self.file.nodes[*node].at, FaultKind::ForkApproval, message);
                }
            }
            if fork.depth == DEPTH {
                let message = format!(
                    "the fork at {from} is nested in {DEPTH} other forks, which is the maximum: move it to a subgraph"
                );
                faults.fault(&self.file.nodes[fork.from].at, FaultKind::Cap, message);
            }
        }
        found
    }

    fn node(&self, node: usize) -> String {
        format!("{:?}", self.file.id(node))
    }

    fn join(&self, join: To) -> String {
        join.node()
            .map_or_else(|| "the fork's end".to_owned(), |node| self.node(node))
    }

    fn bad_fork(&self, bad: &BadFork) -> (String, FaultKind, String) {
        let edge = |edge: usize| self.links.edges[edge].at.clone();
        let node = |node: usize| self.file.nodes[node].at.clone();
        let (from, join) = (self.node(bad.from), self.join(bad.join));
        let branch = |head: usize| format!("the branch {} of the fork at {from}", self.node(head));
        match bad.problem {
            ForkProblem::ToJoin { edge: which } => {
                let why = match bad.join {
                    To::Node(_) => format!(
                        "directly to {join}, where its other branches meet; {join} runs after them anyway"
                    ),
                    To::End => "to the end and to other nodes in parallel, but a run has one end"
                        .to_owned(),
                };
                (
                    edge(which),
                    FaultKind::ForkToJoin,
                    format!("{from} leads {why}: remove this edge"),
                )
            }
            ForkProblem::Back {
                head,
                edge: which,
                to,
            } => {
                let (branch, to) = (branch(head), self.node(to));
                let message = format!(
                    "this edge leads from {branch} back to {to}, while other branches run: let all branches meet in one node, and loop from there"
                );
                (edge(which), FaultKind::ForkBack, message)
            }
            ForkProblem::Shared {
                heads,
                node: shared,
            } => {
                let ([one, other], to) = (heads.map(|head| self.node(head)), self.node(shared));
                let message = format!(
                    "the branches {one} and {other} of the fork at {from} both lead to {to}, but not on all their paths, so it would run twice: let every path of both lead to {to}, or give each branch a node of its own"
                );
                (node(shared), FaultKind::ForkShared, message)
            }
            ForkProblem::Entered {
                head,
                edge: which,
                from: outside,
                to,
            } => {
                let (outside, branch, to) = (self.node(outside), branch(head), self.node(to));
                let message = format!(
                    "this edge leads from {outside} into {branch}, which runs beside other branches: let it lead to {from} or to {join}, or to a node of its own instead of {to}"
                );
                (edge(which), FaultKind::ForkEntered, message)
            }
            ForkProblem::Start { head, start } => {
                let branch = branch(head);
                let message = format!(
                    "the graph starts in {branch}, which runs beside other branches: let it start at {from}"
                );
                (node(start), FaultKind::ForkEntered, message)
            }
        }
    }
}
