//! Checks that whatever is read is an input, or is written before.
//!
//! For each step the dataflow says which values are there on every path, on some, or on none. A read of the last kind is a fault, of
//! the second a warning, as the path may never be taken. In a system prompt, text that models, tools or searches write is a fault
//! as well: it could give orders there.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::dataflow::{Dataflow, KeyState};
use super::keys::{ERROR, KeySet, Keys};
use super::step_graph::StepGraph;
use crate::facts::{Facts, Read, Write};
use crate::faults::{FaultKind, Faults, escaped, shown};
use crate::file::Reducer;
use crate::shape::FoundFork;
use crate::template::{key, path};

/// Reads with the last message as default count only if the graph has one of these values.
fn all_reads(facts: &Facts, has: impl Fn(&str) -> bool) -> impl Iterator<Item = &Read> {
    let needs_message = facts
        .reads_or_message
        .iter()
        .any(|read| has(key(&read.name)));
    facts
        .reads
        .iter()
        .chain(facts.reads_or_message.iter().filter(move |_| needs_message))
}

impl<'d> StepGraph<'d> {
    /// Returns what the graph needs: see [`Plan`](super::Plan).
    pub(super) fn reads_writes(
        &self,
        start: usize,
        forks: &[FoundFork],
        faults: &mut Faults,
    ) -> Vec<String> {
        let written = self.facts.iter().flat_map(Facts::keys).map(String::as_str);
        let keys = Keys::new(self.at_start().chain([ERROR]).chain(written));
        let flow = Dataflow {
            facts: self.facts,
            keys: &keys,
            at_start: self.at_start().collect(),
        };
        let states = flow.solve(&self.shape, start, forks);
        let anywhere = flow.anywhere();
        let mut reading = ReadChecker {
            graph: self,
            keys: &keys,
            written: self.written(),
            reported: HashSet::new(),
        };
        let mut needs = BTreeSet::new();
        for (node, facts) in self.facts.iter().enumerate() {
            let state = if self.is_step[node] {
                &states[node]
            } else {
                &anywhere
            };
            let mut reported = HashSet::new();
            for read in all_reads(facts, |key| keys.of(key).is_some()) {
                let key = key(&read.name);
                if key == "messages" || !reported.insert((&read.at, key)) {
                } else if self.file.open_inputs && keys.of(key).is_none() {
                    // What a tool reads need not be an input.
                    needs.extend(Some(key.to_owned()).filter(|_| self.is_step[node]));
                } else {
                    reading.check(node, read, state, faults);
                }
            }
            for read in &facts.system_prompt_reads {
                reading.system(read, "a system prompt of the subgraph", state, faults);
            }
        }
        let braced = self.facts.iter().flat_map(|facts| &facts.braced);
        for read in braced.filter(|read| keys.of(key(&read.name)).is_some()) {
            let name = shown(&read.name);
            let message =
                format!("`{{{name}}}` is sent as it is; write `{{{{ {name} }}}}` for the value");
            faults.warn(&read.at, FaultKind::Template, message);
        }
        self.conflicts(forks, faults);
        needs.into_iter().collect()
    }

    fn at_start(&self) -> impl Iterator<Item = &'d str> {
        let defaults = self
            .file
            .state
            .iter()
            .filter(|(_, field)| field.default.is_some());
        self.file
            .inputs
            .keys()
            .chain(defaults.map(|(key, _)| key))
            .map(String::as_str)
    }

    /// Inputs and defaults have no writers.
    fn written(&self) -> BTreeMap<&'d str, Vec<usize>> {
        let mut written: BTreeMap<&str, Vec<usize>> =
            self.at_start().map(|key| (key, Vec::new())).collect();
        for (node, facts) in self.facts.iter().enumerate() {
            for key in facts.keys() {
                let writers = written.entry(key).or_default();
                if writers.last() != Some(&node) {
                    writers.push(node);
                }
            }
            if facts.handles.iter().any(|handle| handle == ERROR) {
                written.entry(ERROR).or_default();
            }
        }
        written
    }

    /// Two branches of a fork that write one value, whose order nobody knows.
    fn conflicts(&self, forks: &[FoundFork], faults: &mut Faults) {
        let mut reported = HashSet::new();
        for fork in forks {
            let mut by_key: HashMap<&str, (usize, usize)> = HashMap::new();
            for (branch, nodes) in fork.branches.iter().enumerate() {
                let nodes: BTreeSet<usize> = nodes.iter().copied().collect();
                for node in nodes {
                    for write in &self.facts[node].writes {
                        let (first, writer) = *by_key.entry(&write.key).or_insert((branch, node));
                        let field = self.file.state.get(&write.key);
                        let is_replaced =
                            field.is_none_or(|field| field.reducer == Reducer::Replace);
                        if first != branch && is_replaced && reported.insert(&write.key) {
                            self.conflict(write, [writer, node], faults);
                        }
                    }
                }
            }
        }
    }

    fn conflict(&self, write: &Write, nodes: [usize; 2], faults: &mut Faults) {
        let place = format!("/state/{}", escaped(&write.key));
        // At the declared key, with or without a reducer; else at the second write.
        let at = if self.file.state.contains_key(&write.key) {
            &place
        } else {
            &write.at
        };
        let ids = self.file.ids(&nodes);
        let key = shown(&write.key);
        let message = format!(
            "{ids} write {key:?} in parallel: set \"{place}/reducer\" to say how the values are combined, for instance to \"append\", or let the nodes write different values"
        );
        faults.fault(at, FaultKind::Conflict, message);
    }
}

/// Whether a set has a key. A key without a number is nobody's.
fn has(set: &KeySet, key: Option<usize>) -> bool {
    match key {
        Some(key) => set.has(key),
        None => false,
    }
}

/// Checks reads one by one. What nothing writes is reported once by name.
struct ReadChecker<'d> {
    graph: &'d StepGraph<'d>,
    keys: &'d Keys<'d>,
    written: BTreeMap<&'d str, Vec<usize>>,
    reported: HashSet<String>,
}

impl ReadChecker<'_> {
    fn check(&mut self, node: usize, read: &Read, state: &KeyState, faults: &mut Faults) {
        let name = key(&read.name);
        let number = self.keys.of(name);
        let shown_name = shown(name);
        let inner = path(&read.name).nth(1).filter(|inner| {
            matches!(name, "inputs" | "state") && number.is_none() && self.keys.of(inner).is_some()
        });
        if let Some(inner) = inner {
            let message = format!(
                "there is no {shown_name:?}: write {:?} for that value",
                shown(inner)
            );
            faults.fault(&read.at, FaultKind::Data, message);
            return;
        }
        if has(&state.always, number) {
        } else if has(&state.perhaps, number) {
            let writers = self.writers(name);
            let message = format!(
                "{shown_name:?} is written by {writers}, but not on every path to this node; a run that comes without it fails, unless \"state\" gives it a \"default\""
            );
            faults.warn(&read.at, FaultKind::Data, message);
        } else if state.anything {
            let message = format!(
                "no node is known to write {shown_name:?}; a run fails if no node before this one writes it"
            );
            faults.warn(&read.at, FaultKind::Data, message);
        } else if self
            .written
            .get(name)
            .is_some_and(|nodes| !nodes.is_empty())
        {
            let writers = self.writers(name);
            let node = self.graph.file.id(node);
            let message = format!(
                "{shown_name:?} is written by {writers}, but on no path to {node:?}: write it earlier, or make it an input"
            );
            faults.fault(&read.at, FaultKind::Data, message);
        } else if !self.reported.contains(name) {
            self.unwritten(read, name, faults);
            self.reported.insert(name.to_owned());
        }
        if read.in_system_prompt {
            self.system(read, "the system prompt", state, faults);
        }
    }

    /// Whether text of others gets into a system prompt. In files of React Flow it is fenced, which is a warning.
    fn system(&self, read: &Read, what: &str, state: &KeyState, faults: &mut Faults) {
        let name = key(&read.name);
        if self
            .keys
            .of(name)
            .is_some_and(|number| state.foreign.has(number))
        {
            let (name, writers) = (shown(name), self.writers(name));
            let message = format!(
                "{what} reads {name:?}, which {writers} writes: move text of a model, a tool or a search into \"prompt\""
            );
            if self.graph.file.is_react_flow {
                faults.warn(
                    &read.at,
                    FaultKind::Untrusted,
                    format!("{message}; it is put into a fence"),
                );
            } else {
                faults.fault(&read.at, FaultKind::Untrusted, message);
            }
        }
    }

    fn unwritten(&self, read: &Read, name: &str, faults: &mut Faults) {
        let StepGraph { file, facts, .. } = self.graph;
        let mut readers = Vec::new();
        for (node, facts) in facts.iter().enumerate() {
            let mut reads = all_reads(facts, |key| self.keys.of(key).is_some());
            if reads.any(|read| key(&read.name) == name) {
                readers.push(node);
            }
        }
        let read_by = if readers.len() == 1 { "reads" } else { "read" };
        let ids = file.ids(&readers);
        let shown = shown(name);
        let message =
            format!("nothing writes {shown:?}, which {ids} {read_by}, and it is not an input");
        // A loop without a name for its item probably means this one.
        let nameless = (0..facts.len()).find(|node| {
            let has_item = file.nodes[*node].data.values.contains_key("item");
            facts[*node].iterates.is_some() && !has_item
        });
        if let Some(node) = nameless {
            let id = file.id(node);
            let message = format!(
                "{message}; the iterator {id:?} has no \"item\", so it writes \"current_item\""
            );
            return faults.fault(&read.at, FaultKind::Data, message);
        }
        faults.unknown(
            true,
            &read.at,
            FaultKind::Data,
            message,
            name,
            self.written.keys().copied(),
        );
    }

    fn writers(&self, key: &str) -> String {
        self.graph
            .file
            .ids(self.written.get(key).into_iter().flatten())
    }
}
