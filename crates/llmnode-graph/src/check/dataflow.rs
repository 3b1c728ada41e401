//! Which keys are written before each step.

use std::collections::HashMap;

use super::keys::{ERROR, KeySet, Keys};
use super::order::{PointGraph, StepExit};
use super::reachability::Roots;
use crate::facts::Facts;
use crate::shape::{FoundFork, Shape, reach, reverse_postorder};
use crate::template::key;

#[derive(Clone, PartialEq)]
pub(super) struct KeyState {
    pub(super) always: KeySet,
    pub(super) perhaps: KeySet,
    /// May hold what a model, a tool or a search wrote.
    pub(super) foreign: KeySet,
    pub(super) anything: bool,
    /// A node whose writes are unknown may have run.
    pub(super) unclear_writes: bool,
    /// A path to here is unclear, so that what was written on some path may have been written on every path.
    pub(super) is_uncertain: bool,
}

pub(super) struct UnknownPaths {
    /// By an edge with an unknown target: on some paths only, since the others are known.
    pub(super) by_edges: KeyState,
    pub(super) by_forks: KeyState,
    pub(super) behind_forks: Vec<bool>,
    pub(super) from_unreached: KeyState,
}

pub(super) struct Dataflow<'f> {
    pub(super) facts: &'f [Facts],
    pub(super) keys: &'f Keys<'f>,
    pub(super) at_start: Vec<&'f str>,
}

impl Dataflow<'_> {
    fn set(&self, is_full: bool) -> KeySet {
        KeySet::new(self.keys.number.len(), is_full)
    }

    fn set_of<'k>(&self, keys: impl IntoIterator<Item = &'k str>) -> KeySet {
        let mut set = self.set(false);
        keys.into_iter().filter_map(|key| self.keys.of(key)).for_each(|key| set.put(key));
        set
    }

    fn nothing(&self, always: KeySet) -> KeyState {
        KeyState {
            always,
            perhaps: self.set(false),
            foreign: self.set(false),
            anything: false,
            unclear_writes: false,
            is_uncertain: false,
        }
    }

    /// Where it is unknown what ran before: every key that others write may be there. `own`: nodes that run after.
    pub(super) fn anywhere(&self, own: &[bool]) -> KeyState {
        let others = || self.facts.iter().zip(own).filter(|(_, own)| !**own).map(|(facts, _)| facts);
        let keys = others().flat_map(|facts| facts.keys().chain(&facts.possible_writes)).map(String::as_str);
        let mut foreign =
            self.set_of(others().filter(|facts| facts.untrusted).flat_map(Facts::keys).map(String::as_str));
        let trusted = others().filter(|facts| !facts.untrusted).flat_map(Facts::keys).map(String::as_str);
        let trusted = self.set_of(trusted.chain(self.at_start.iter().copied()));
        foreign.join(&trusted, |one, other| one & !other);
        KeyState {
            foreign,
            anything: others().any(|facts| facts.writes_anything),
            unclear_writes: others().any(|facts| facts.unclear),
            is_uncertain: true,
            ..self.nothing(self.set_of(keys.chain(self.at_start.iter().copied()).chain([ERROR])))
        }
    }

    /// Iterates to a fixed point, since graphs have loops.
    pub(super) fn solve(
        &self,
        shape: &Shape,
        roots: &Roots,
        forks: &[FoundFork],
    ) -> (Vec<KeyState>, UnknownPaths) {
        let flat = PointGraph::new(shape, forks, &|node| self.facts[node].iterates.is_some());
        let writes: Vec<KeySet> = self
            .facts
            .iter()
            .map(|facts| self.set_of(facts.keys().chain(&facts.possible_writes).map(String::as_str)))
            .collect();
        let mut known = vec![self.nothing(self.set(true)); flat.points.len()];
        let first = self.set_of(self.at_start.iter().copied());
        let before = |root: usize| {
            let mut known = self.anywhere(&reach(shape, &[root]));
            // A node that is missing may write anything.
            known.unclear_writes |= roots.foreign.contains(&root);
            (root, known)
        };
        let others: HashMap<usize, KeyState> = roots.others.iter().map(|root| before(*root)).collect();
        let order = order(roots, &flat);
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for point in &order {
                let at = &flat.points[*point];
                let before = others.get(point).cloned();
                let mut before = before.unwrap_or_else(|| self.nothing(self.set(!at.is_join)));
                before.is_uncertain |=
                    at.is_uncertain || self.facts.get(*point).is_some_and(|facts| facts.has_shared_id);
                if Some(*point) == roots.start {
                    before.always = first.clone();
                    before.perhaps = first.clone();
                }
                for (from, by) in &at.from {
                    let after = self.after(&known[*from], *from, *by, &writes);
                    before
                        .always
                        .join(&after.always, |one, other| if at.is_join { one | other } else { one & other });
                    before.add(&after);
                }
                if known[*point] != before {
                    known[*point] = before;
                    has_changed = true;
                }
            }
        }
        known.truncate(self.facts.len());
        let of = |nodes: &dyn Fn(usize) -> bool| {
            let mut all = self.nothing(self.set(false));
            for node in (0..known.len()).filter(|node| nodes(*node)) {
                all.add(&self.after(&known[node], node, StepExit::Done, &writes));
            }
            all
        };
        let heads: Vec<usize> = (0..known.len()).filter(|node| flat.points[*node].is_uncertain).collect();
        let is_behind = reach(shape, &heads);
        let unknown_paths = UnknownPaths {
            by_edges: of(&|node| shape.unknown_exits[node]),
            by_forks: of(&|node| is_behind[node]),
            behind_forks: is_behind.clone(),
            from_unreached: of(&|node| !roots.reached[node]),
        };
        (known, unknown_paths)
    }

    fn after(&self, before: &KeyState, point: usize, by: StepExit, writes: &[KeySet]) -> KeyState {
        let mut after = before.clone();
        let Some(own) = self.facts.get(point) else { return after };
        after.unclear_writes |= own.unclear;
        let written = &writes[point];
        match by {
            StepExit::Done => {
                after.always.join(written, |one, other| one | other);
                after.perhaps.join(written, |one, other| one | other);
                let list = own.iterates.as_ref().and_then(|read| self.keys.of(key(&read.name)));
                if own.untrusted || list.is_some_and(|list| before.foreign.has(list)) {
                    after.foreign.join(written, |one, other| one | other);
                }
                let mut value_flows: Vec<_> = own
                    .value_flows
                    .iter()
                    .filter_map(|(from, to)| Some((self.keys.of(from)?, self.keys.of(to)?)))
                    .collect();
                // A value may come into another one by way of a third.
                while let Some(at) = value_flows.iter().position(|(from, _)| after.foreign.has(*from)) {
                    after.foreign.put(value_flows.swap_remove(at).1);
                }
                after.anything |= own.writes_anything;
            }
            StepExit::Cleared => after.always.join(written, |one, other| one & !other),
            StepExit::Failed => {
                if let Some(error) = self.keys.of(ERROR) {
                    after.always.put(error);
                    after.perhaps.put(error);
                    // The message of an error may quote a server or a tool.
                    after.foreign.put(error);
                }
            }
        }
        after
    }
}

impl KeyState {
    fn add(&mut self, other: &KeyState) {
        self.perhaps.join(&other.perhaps, |one, other| one | other);
        self.foreign.join(&other.foreign, |one, other| one | other);
        self.anything |= other.anything;
        self.unclear_writes |= other.unclear_writes;
        self.is_uncertain |= other.is_uncertain;
    }
}

/// Each point after those from which values come to it, except in loops.
fn order(roots: &Roots, flat: &PointGraph) -> Vec<usize> {
    let mut out = vec![Vec::new(); flat.points.len() + 1];
    for (point, to) in flat.points.iter().enumerate() {
        for (from, _) in &to.from {
            out[*from].push(point);
        }
    }
    let root = flat.points.len();
    out[root] = roots.start.iter().chain(&roots.others).copied().collect();
    let mut order = reverse_postorder(root, &out);
    order.remove(0);
    order
}
