//! Forks: what is wrong with their branches, in words that say what to change.

use std::collections::HashSet;

use super::Link;
use crate::facts::Facts;
use crate::faults::{FaultKind, Faults, shown};
use crate::file::GraphFile;
use crate::shape::{BadFork, Region, Shape, To, Trouble, forks, reach, region};

/// Checks the forks of a graph whose steps lead to the end; returns how it runs.
pub(super) fn check(
    file: &GraphFile,
    edges: &[&Link],
    facts: &[Option<Facts>],
    shape: &Shape,
    start: usize,
    faults: &mut Faults,
) -> Option<(usize, Region)> {
    let before = faults.len();
    let (found, bad) = forks(shape, start, &reach(shape, start));
    let words = Words { file, edges };
    for bad in &bad {
        let (at, kind, message) = words.of(bad);
        faults.fault(at, kind, message);
    }
    let mut told = HashSet::new();
    for fork in &found {
        for branch in &fork.branches {
            for node in branch {
                if facts[*node].as_ref().is_some_and(|facts| facts.pauses) && told.insert(*node) {
                    let message = format!(
                        "it waits for an approval within {}, while other branches are under way: move it before {}, or behind {}",
                        words.branch(branch[0], fork.from),
                        words.node(fork.from),
                        words.join(fork.join)
                    );
                    faults.fault(&file.nodes[*node].at, FaultKind::ForkApproval, message);
                }
            }
        }
    }
    if faults.len() > before {
        return None;
    }
    match region(shape, start, &found) {
        Ok(region) => Some((start, region)),
        Err(deep) => {
            let message = format!(
                "the fork at {} is nested in {} others, which is the maximum; move it to a subgraph",
                words.node(deep.from),
                deep.most
            );
            faults.fault(&file.nodes[deep.from].at, FaultKind::Cap, message);
            None
        }
    }
}

struct Words<'w> {
    file: &'w GraphFile,
    edges: &'w [&'w Link],
}

impl Words<'_> {
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
        let edge = |edge: usize| self.edges[edge].at.clone();
        let from = self.node(bad.from);
        match &bad.trouble {
            Trouble::ToJoin { edge: which } => {
                let message = match bad.join {
                    To::Node(join) => format!(
                        "{from} leads straight to {join}, where its other branches meet, which runs once they have ended in any case: remove this edge",
                        join = self.node(join)
                    ),
                    To::End => format!(
                        "{from} leads straight to the end, and side by side with that to other nodes; a run has one end: remove this edge"
                    ),
                };
                (edge(*which), FaultKind::ForkToJoin, message)
            }
            Trouble::Back { head, edge: which, to } => {
                let message = format!(
                    "within {} this edge leads back to {}, while other branches are under way: let all branches meet in one node, and loop from there",
                    self.branch(*head, bad.from),
                    self.node(*to)
                );
                (edge(*which), FaultKind::ForkBack, message)
            }
            Trouble::Shared { heads: [one, other], node } => {
                let message = format!(
                    "the branches {} and {} of the fork at {from} both come to {node}, but not on all their ways, so that it would run twice: let every way of both lead to {node}, or give each branch a node of its own",
                    self.node(*one),
                    self.node(*other),
                    node = self.node(*node)
                );
                (self.file.nodes[*node].at.clone(), FaultKind::ForkShared, message)
            }
            Trouble::Entered { head, edge: which, from: outside, to } => {
                let message = format!(
                    "leads from {} into {}, which runs beside other branches: let it lead to {from} or to {}, or to a node of its own in place of {}",
                    self.node(*outside),
                    self.branch(*head, bad.from),
                    self.join(bad.join),
                    self.node(*to)
                );
                (edge(*which), FaultKind::ForkEntered, message)
            }
            Trouble::Start { head, start } => {
                let message = format!(
                    "the graph starts within {}, which runs beside other branches: let it start at {from}",
                    self.branch(*head, bad.from)
                );
                (self.file.nodes[*start].at.clone(), FaultKind::ForkEntered, message)
            }
        }
    }
}
