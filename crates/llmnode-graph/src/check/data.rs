//! What is read has to be an input, or written before.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::flat::{By, Flat};
use super::keys::{Keys, Set};
use crate::facts::{Facts, Place, Read};
use crate::faults::{FaultKind, Faults, escaped, listed, shown};
use crate::file::{Form, GraphFile, Reducer};
use crate::shape::Region;
use crate::template::key;

/// What an edge `error` writes.
const ERROR: &str = "error";

pub(super) struct Data<'d> {
    pub(super) file: &'d GraphFile,
    pub(super) facts: &'d [Option<Facts>],
    pub(super) steps: &'d [bool],
}

/// What holds before a step runs.
#[derive(Clone, PartialEq)]
struct Known {
    /// Keys that were written on every way.
    always: Set,
    /// Keys that were written on some way.
    perhaps: Set,
    /// Keys that may hold what a model, a tool or a search wrote.
    foreign: Set,
    /// Whether a node that writes what it likes may have run.
    anything: bool,
    /// Whether a faulty node may have run: nothing is said of what may come of that.
    faulty: bool,
}

/// What a node reads. What it takes from the last message if the graph has none of it counts only if it has.
fn all_reads(facts: &Facts, has: impl Fn(&str) -> bool) -> impl Iterator<Item = &Read> {
    let given = facts.reads_or_message.iter().any(|read| has(key(&read.name)));
    facts.reads.iter().chain(facts.reads_or_message.iter().filter(move |_| given))
}

impl Data<'_> {
    /// Where the ways are not known: a name that nothing writes at all is wrong in any case.
    pub(super) fn check_names(&self, faults: &mut Faults) {
        let is_open = self.file.open_inputs
            || self
                .facts
                .iter()
                .any(|facts| facts.as_ref().is_none_or(|facts| facts.writes_anything || facts.faulty));
        if is_open {
            return;
        }
        let written = self.written();
        let mut told = HashSet::new();
        let reads =
            self.facts.iter().flatten().flat_map(|facts| all_reads(facts, |key| written.contains_key(key)));
        for read in reads {
            let key = key(&read.name);
            if key != "messages" && !written.contains_key(key) && told.insert((&read.at, key)) {
                self.unwritten(read, key, &written, faults);
            }
        }
    }

    /// Checks what each step of a plan reads; returns the names that a run has to be given, sorted.
    pub(super) fn check(&self, start: usize, region: &Region, faults: &mut Faults) -> Vec<String> {
        let mut keys = Keys { number: HashMap::new() };
        self.at_start().for_each(|key| _ = keys.add(key));
        keys.add(ERROR);
        for facts in self.facts.iter().flatten() {
            facts.writes.iter().chain(&facts.also_writes).for_each(|key| _ = keys.add(key));
        }
        let known = self.solve(start, region, &keys);
        let written = self.written();
        let mut needs = BTreeSet::new();
        for (node, facts) in self.facts.iter().enumerate() {
            let (Some(facts), true) = (facts, self.steps[node]) else { continue };
            let mut told = HashSet::new();
            for read in all_reads(facts, |key| keys.of(key).is_some()) {
                let key = key(&read.name);
                if key == "messages" || !told.insert((&read.at, key)) {
                    continue;
                }
                let Some(number) = keys.of(key) else {
                    if known[node].faulty {
                    } else if self.file.open_inputs {
                        needs.insert(key.to_owned());
                    } else if known[node].anything {
                        self.behind_anything(read, key, faults);
                    } else {
                        self.unwritten(read, key, &written, faults);
                    }
                    continue;
                };
                self.read(node, read, key, number, &known[node], &written, faults);
            }
        }
        self.conflicts(region, faults);
        needs.into_iter().collect()
    }

    #[expect(clippy::too_many_arguments, reason = "all of it is looked up once for many reads")]
    fn read(
        &self,
        node: usize,
        read: &Read,
        key: &str,
        number: usize,
        known: &Known,
        written: &BTreeMap<&str, Vec<usize>>,
        faults: &mut Faults,
    ) {
        let writers = || {
            let nodes = written.get(key).into_iter().flatten();
            listed(nodes.map(|node| self.file.nodes[*node].id.as_str()))
        };
        let name = shown(key);
        if known.always.has(number) || known.faulty {
        } else if known.perhaps.has(number) {
            let message = format!(
                "{name:?} is written by {}, but not on every way to here; a run that comes without it fails",
                writers()
            );
            faults.warn(&read.at, FaultKind::Data, message);
        } else if known.anything {
            self.behind_anything(read, key, faults);
        } else if written.get(key).is_some_and(|nodes| !nodes.is_empty()) {
            let message = format!(
                "{name:?} is written by {}, but on no path to this node; write it before {:?}, or make it an input",
                writers(),
                shown(&self.file.nodes[node].id)
            );
            faults.fault(&read.at, FaultKind::Data, message);
        } else {
            self.unwritten(read, key, written, faults);
        }
        if read.place == Place::System && known.foreign.has(number) {
            let message = format!(
                "the system prompt reads {name:?}, which {} writes; put text of a model, a tool or a search into \"prompt\"",
                writers()
            );
            if self.file.form == Form::Own {
                faults.fault(&read.at, FaultKind::Untrusted, message);
            } else {
                let message = format!("{message}; it is put in a fence");
                faults.warn(&read.at, FaultKind::Untrusted, message);
            }
        }
    }

    fn behind_anything(&self, read: &Read, key: &str, faults: &mut Faults) {
        let message = format!(
            "no node says that it writes {:?}; a run in which a node before does not write it fails",
            shown(key)
        );
        faults.warn(&read.at, FaultKind::Data, message);
    }

    fn unwritten(&self, read: &Read, key: &str, written: &BTreeMap<&str, Vec<usize>>, faults: &mut Faults) {
        let message = format!("nothing writes {:?}, and it is no input", shown(key));
        faults.unknown(true, &read.at, FaultKind::Data, message, key, written.keys().copied());
    }

    /// The keys that are there when a run begins.
    fn at_start(&self) -> impl Iterator<Item = &str> {
        let defaults = self.file.state.iter().filter(|(_, field)| field.default.is_some());
        self.file.inputs.keys().chain(defaults.map(|(key, _)| key)).map(String::as_str)
    }

    /// All keys that are there at some time, and the nodes that write them.
    fn written(&self) -> BTreeMap<&str, Vec<usize>> {
        let mut written: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for key in self.at_start() {
            written.entry(key).or_default();
        }
        for (node, facts) in self.facts.iter().enumerate() {
            let Some(facts) = facts else { continue };
            for key in facts.writes.iter().chain(&facts.also_writes) {
                written.entry(key).or_default().push(node);
            }
            if facts.handles.known.iter().any(|handle| handle == ERROR) {
                written.entry(ERROR).or_default();
            }
        }
        written
    }

    /// What holds before each step.
    fn solve(&self, start: usize, region: &Region, keys: &Keys<'_>) -> Vec<Known> {
        let nodes = self.file.nodes.len();
        let is_iterator = |node: usize| self.facts[node].as_ref().is_some_and(|facts| facts.iterator);
        let flat = Flat::new(nodes, region, &is_iterator);
        let count = keys.number.len();
        let (none, all) = (Set::new(count, false), Set::new(count, true));
        let writes: Vec<Set> = self
            .facts
            .iter()
            .map(|facts| {
                let mut set = none.clone();
                for key in facts.iter().flat_map(|facts| facts.writes.iter().chain(&facts.also_writes)) {
                    keys.of(key).into_iter().for_each(|key| set.put(key));
                }
                set
            })
            .collect();
        let unknown = Known {
            always: all,
            perhaps: none.clone(),
            foreign: none.clone(),
            anything: false,
            faulty: false,
        };
        let mut known = vec![unknown; flat.points.len()];
        let mut first = none.clone();
        self.at_start().filter_map(|key| keys.of(key)).for_each(|key| first.put(key));
        let order = order(start, &flat);
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for point in &order {
                let mut before = Known {
                    always: if flat.points[*point].is_join { none.clone() } else { Set::new(count, true) },
                    perhaps: none.clone(),
                    foreign: none.clone(),
                    anything: false,
                    faulty: false,
                };
                if *point == start {
                    before.always = first.clone();
                    before.perhaps = first.clone();
                }
                for (from, by) in &flat.points[*point].from {
                    let after = self.after(&known[*from], *from, *by, &writes, keys);
                    if flat.points[*point].is_join {
                        before.always.join(&after.always, |one, other| one | other);
                    } else {
                        before.always.join(&after.always, |one, other| one & other);
                    }
                    before.perhaps.join(&after.perhaps, |one, other| one | other);
                    before.foreign.join(&after.foreign, |one, other| one | other);
                    before.anything |= after.anything;
                    before.faulty |= after.faulty;
                }
                if known[*point] != before {
                    known[*point] = before;
                    has_changed = true;
                }
            }
        }
        known.truncate(nodes);
        known
    }

    /// What holds behind a point.
    fn after(&self, before: &Known, point: usize, by: By, writes: &[Set], keys: &Keys<'_>) -> Known {
        let mut after = before.clone();
        let Some(own) = self.facts.get(point) else { return after };
        let Some(own) = own else {
            after.faulty = true;
            return after;
        };
        after.faulty |= own.faulty;
        let written = &writes[point];
        match by {
            By::Done => {
                after.always.join(written, |one, other| one | other);
                after.perhaps.join(written, |one, other| one | other);
                let reads_foreign = || {
                    let mut read = own.reads.iter().filter_map(|read| keys.of(key(&read.name)));
                    own.iterator && read.any(|key| before.foreign.has(key))
                };
                if own.untrusted || reads_foreign() {
                    after.foreign.join(written, |one, other| one | other);
                }
                after.anything |= own.writes_anything;
            }
            By::Cleared => after.always.join(written, |one, other| one & !other),
            By::Failed => {
                if let Some(error) = keys.of(ERROR) {
                    after.always.put(error);
                    after.perhaps.put(error);
                    // Its message may have a server's or a tool's words.
                    after.foreign.put(error);
                }
            }
        }
        after
    }

    /// Keys that two branches of a fork write need a reducer.
    fn conflicts(&self, region: &Region, faults: &mut Faults) {
        let mut told = BTreeMap::new();
        self.conflicts_of(region, &mut told);
        for (key, (nodes, others)) in told {
            let names = listed([nodes, others].map(|node| self.file.nodes[node].id.as_str()));
            let message = format!(
                "{names} write {:?} side by side: say how the two become one by a \"reducer\", \"append\" for instance, or let them write different keys",
                shown(key)
            );
            faults.fault(format!("/state/{}/reducer", escaped(key)), FaultKind::Conflict, message);
        }
    }

    /// Notes the conflicts of a region by their keys, with two nodes; returns who writes what in it.
    fn conflicts_of<'d>(
        &'d self,
        region: &Region,
        told: &mut BTreeMap<&'d str, (usize, usize)>,
    ) -> HashMap<&'d str, usize> {
        let mut all = HashMap::new();
        for node in &region.nodes {
            for key in self.facts[*node].iter().flat_map(|facts| &facts.writes) {
                all.entry(key.as_str()).or_insert(*node);
            }
        }
        for fork in &region.forks {
            let mut by_branch: HashMap<&str, usize> = HashMap::new();
            for branch in &fork.branches {
                for (key, node) in self.conflicts_of(branch, told) {
                    let reducer = self.file.state.get(key).map(|field| field.reducer);
                    match by_branch.get(key) {
                        Some(other) if reducer.unwrap_or_default() == Reducer::Replace => {
                            told.entry(key).or_insert((*other, node));
                        }
                        _ => _ = by_branch.insert(key, node),
                    }
                }
            }
            for (key, node) in by_branch {
                all.entry(key).or_insert(node);
            }
        }
        all
    }
}

/// The points in the order in which values pass them, but for loops.
fn order(start: usize, flat: &Flat) -> Vec<usize> {
    let mut out = vec![Vec::new(); flat.points.len()];
    for (point, to) in flat.points.iter().enumerate() {
        for (from, _) in &to.from {
            out[*from].push(point);
        }
    }
    crate::shape::reverse_postorder(start, &out)
}
