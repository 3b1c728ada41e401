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
            let from = self.node(fork.from);
            let join = self.join(fork.join);
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

    /// The place, the kind and the words of what is wrong with a fork. At the edge to remove, where there is one.
    fn bad_fork(&self, bad: &BadFork) -> (String, FaultKind, String) {
        let from = self.node(bad.from);
        let join = self.join(bad.join);
        match bad.problem {
            ForkProblem::ToJoin { edge } => {
                let why = match bad.join {
                    To::Node(_) => format!(
                        "directly to {join}, where its other branches meet; {join} runs after them anyway"
                    ),
                    To::End => "to the end and to other nodes in parallel, but a run has one end"
                        .to_owned(),
                };
                let message = format!("{from} leads {why}: remove this edge");
                (self.edge_place(edge), FaultKind::ForkToJoin, message)
            }
            ForkProblem::Back { head, edge, to } => {
                let branch = self.branch(head, &from);
                let to = self.node(to);
                let message = format!(
                    "this edge leads from {branch} back to {to}, while other branches run: let all branches meet in one node, and loop from there"
                );
                (self.edge_place(edge), FaultKind::ForkBack, message)
            }
            ForkProblem::Shared { heads, node } => {
                let [one, other] = heads.map(|head| self.node(head));
                let to = self.node(node);
                let message = format!(
                    "the branches {one} and {other} of the fork at {from} both lead to {to}, but not on all their paths, so it would run twice: let every path of both lead to {to}, or give each branch a node of its own"
                );
                (self.node_place(node), FaultKind::ForkShared, message)
            }
            ForkProblem::Entered {
                head,
                edge,
                from: outside,
                to,
            } => {
                let outside = self.node(outside);
                let branch = self.branch(head, &from);
                let to = self.node(to);
                let message = format!(
                    "this edge leads from {outside} into {branch}, which runs beside other branches: let it lead to {from} or to {join}, or to a node of its own instead of {to}"
                );
                (self.edge_place(edge), FaultKind::ForkEntered, message)
            }
            ForkProblem::Start { head, start } => {
                let branch = self.branch(head, &from);
                let message = format!(
                    "the graph starts in {branch}, which runs beside other branches: let it start at {from}"
                );
                (self.node_place(start), FaultKind::ForkEntered, message)
            }
        }
    }

    fn edge_place(&self, edge: usize) -> String {
        self.links.edges[edge].at.clone()
    }

    fn node_place(&self, node: usize) -> String {
        self.file.nodes[node].at.clone()
    }

    fn branch(&self, head: usize, from: &str) -> String {
        format!("the branch {} of the fork at {from}", self.node(head))
    }
}
