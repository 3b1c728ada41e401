//! Reports what is wrong with the branches of forks.

use std::collections::HashSet;

use super::Links;
use crate::facts::Facts;
use crate::faults::{FaultKind, Faults, shown};
use crate::file::GraphFile;
use crate::shape::{BadFork, DEPTH, ForkProblem, FoundFork, Shape, To, forks};

pub(super) fn check(
    file: &GraphFile,
    links: &Links,
    facts: &[Facts],
    (shape, start): (&Shape, usize),
    faults: &mut Faults,
) -> Vec<FoundFork> {
    let (found, bad) = forks(shape, start);
    let words = ForkMessages { file, links };
    for bad in &bad {
        let (at, kind, message) = words.of(bad);
        faults.fault(at, kind, message);
    }
    let mut reported = HashSet::new();
    for fork in &found {
        for node in fork.branches.iter().flatten().filter(|node| facts[**node].pauses) {
            if reported.insert(*node) {
                let message = format!(
                    "waits for an approval in a branch of the fork at {}, while other branches run: move it before {}, or behind {}",
                    words.node(fork.from),
                    words.node(fork.from),
                    words.join(fork.join)
                );
                faults.fault(&file.nodes[*node].at, FaultKind::ForkApproval, message);
            }
        }
        if fork.depth == DEPTH {
            let message = format!(
                "the fork at {} is nested in {DEPTH} other forks, which is the maximum: move it to a subgraph",
                words.node(fork.from)
            );
            faults.fault(&file.nodes[fork.from].at, FaultKind::Cap, message);
        }
    }
    found
}

struct ForkMessages<'w> {
    file: &'w GraphFile,
    links: &'w Links,
}

impl ForkMessages<'_> {
    fn node(&self, node: usize) -> String {
        format!("{:?}", shown(&self.file.nodes[node].id))
    }

    fn join(&self, join: To) -> String {
        match join {
            To::Node(node) => self.node(node),
            To::End => "the fork's end".to_owned(),
        }
    }

    fn branch(&self, head: usize, from: usize) -> String {
        format!("the branch {} of the fork at {}", self.node(head), self.node(from))
    }

    fn of(&self, bad: &BadFork) -> (String, FaultKind, String) {
        let edge = |edge: usize| self.links.edges[edge].at.clone();
        let from = self.node(bad.from);
        match &bad.problem {
            ForkProblem::ToJoin { edge: which } => {
                let message = match bad.join {
                    To::Node(join) => format!(
                        "{from} leads directly to {join}, where its other branches meet; {join} runs after them anyway: remove this edge",
                        join = self.node(join)
                    ),
                    To::End => format!(
                        "{from} leads to the end and to other nodes in parallel, but a run has one end: remove this edge"
                    ),
                };
                (edge(*which), FaultKind::ForkToJoin, message)
            }
            ForkProblem::Back { head, edge: which, to } => {
                let message = format!(
                    "this edge leads from {} back to {}, while other branches run: let all branches meet in one node, and loop from there",
                    self.branch(*head, bad.from),
                    self.node(*to)
                );
                (edge(*which), FaultKind::ForkBack, message)
            }
            ForkProblem::Shared { heads: [one, other], node } => {
                let message = format!(
                    "the branches {} and {} of the fork at {from} both lead to {node}, but not on all their paths, so it would run twice: let every path of both lead to {node}, or give each branch a node of its own",
                    self.node(*one),
                    self.node(*other),
                    node = self.node(*node)
                );
                (self.file.nodes[*node].at.clone(), FaultKind::ForkShared, message)
            }
            ForkProblem::Entered { head, edge: which, from: outside, to } => {
                let message = format!(
                    "this edge leads from {} into {}, which runs beside other branches: let it lead to {from} or to {}, or to a node of its own instead of {}",
                    self.node(*outside),
                    self.branch(*head, bad.from),
                    self.join(bad.join),
                    self.node(*to)
                );
                (edge(*which), FaultKind::ForkEntered, message)
            }
            ForkProblem::Start { head, start } => {
                let message = format!(
                    "the graph starts in {}, which runs beside other branches: let it start at {from}",
                    self.branch(*head, bad.from)
                );
                (self.file.nodes[*start].at.clone(), FaultKind::ForkEntered, message)
            }
        }
    }
}
