//! Finds where a graph starts. Nothing is guessed.

use super::step_graph::StepGraph;
use crate::faults::{FaultKind, Faults};
use crate::template::key;

const REMEDY: &str = "set \"isStart\": true in the data of the first node";

impl StepGraph<'_> {
    /// In this order: the one `isStart`, the one target of `start`, the one node without an incoming edge, the iterator of
    /// an input, the one node that only a `next` leads to.
    pub(super) fn start(&self, faults: &mut Faults) -> Option<usize> {
        let StepGraph { file, links, .. } = self;
        let flagged: Vec<usize> = (0..file.nodes.len())
            .filter(|node| file.nodes[*node].is_start)
            .collect();
        match &*flagged {
            [] => {}
            [only] => return self.step(*only, faults),
            [_, second, ..] => {
                let ids = file.ids(&flagged);
                let message =
                    format!("{ids} have \"isStart\", but a graph has one start: keep one");
                faults.fault(
                    format!("{}/isStart", file.nodes[*second].data.at()),
                    FaultKind::Start,
                    message,
                );
                return None;
            }
        }
        let mut starts: Vec<usize> = links.starts.iter().map(|(node, _)| *node).collect();
        starts.dedup();
        match *starts {
            [] => self.first_step(faults),
            [only] => self.step(only, faults),
            [first, ..] => {
                let other = links.starts.iter().find(|(node, _)| *node != first);
                let place = other.map_or("", |(_, at)| at);
                let ids = file.ids(&starts);
                let message = format!(
                    "edges lead from the start to {ids}, but a graph has one start: keep one"
                );
                faults.fault(place, FaultKind::Start, message);
                None
            }
        }
    }

    /// Where nothing says which node is the first: the only one that can be.
    fn first_step(&self, faults: &mut Faults) -> Option<usize> {
        let mut found = self.without_incoming(|_, _| true);
        let is_cycle = found.is_empty();
        if is_cycle {
            found = self.starts_of_cycle();
        }
        let ids = self.file.ids(&found);
        let message = match &*found {
            [only] => return Some(*only),
            [] if self.is_step.contains(&true) => {
                format!("an edge leads to every node, so none is the first: {REMEDY}")
            }
            [] => "every node is a tool of another, so none is the first: add an agent that calls them"
                .to_owned(),
            _ if is_cycle => {
                format!("an edge leads to every node, and {ids} may each be the first: {REMEDY}")
            }
            _ => format!("no edge leads to {ids}, so each may be the first: {REMEDY}"),
        };
        faults.fault("/nodes", FaultKind::Start, message);
        None
    }

    /// In a cycle with an iterator over an input, the iterator: the body comes after it.
    fn starts_of_cycle(&self) -> Vec<usize> {
        let others = self
            .without_incoming(|from, handle| handle != "next" || self.iterates_over_input(from));
        (0..self.facts.len())
            .filter(|node| self.iterates_over_input(*node) || others.contains(node))
            .collect()
    }

    fn iterates_over_input(&self, node: usize) -> bool {
        if !self.is_step[node] {
            return false;
        }
        match &self.facts[node].iterates {
            Some(list) => self.file.inputs.contains_key(key(&list.name)),
            None => false,
        }
    }

    fn step(&self, node: usize, faults: &mut Faults) -> Option<usize> {
        if self.is_step[node] {
            return Some(node);
        }
        let id = self.file.id(node);
        let message =
            format!("{id:?} is a tool of an agent, so it cannot be the start: start at the agent");
        faults.fault(&self.file.nodes[node].at, FaultKind::Start, message);
        None
    }

    fn without_incoming(&self, counts: impl Fn(usize, &str) -> bool) -> Vec<usize> {
        let mut is_first = self.is_step.clone();
        for (from, handles) in self.shape.ways.iter().enumerate() {
            for way in handles
                .iter()
                .filter(|handle| counts(from, &handle.name))
                .flat_map(|handle| &handle.to)
            {
                if let Some(to) = way.to.node().filter(|to| *to != from) {
                    is_first[to] = false;
                }
            }
        }
        (0..is_first.len()).filter(|node| is_first[*node]).collect()
    }
}
