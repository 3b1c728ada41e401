//! Which keys are written before each step.
//!
//! A step's state is joined from those behind the steps before it: what is there on every path, on some, and what may be of others.
//! Loops make it a fixed point, which is reached since sets only shrink or only grow.

use super::keys::{ERROR, KeySet, Keys};
use super::order::{PointGraph, StepExit};
use crate::facts::Facts;
use crate::shape::{FoundFork, Shape, reverse_postorder};
use crate::template::key;

/// What is known of the values at one place.
#[derive(Clone, PartialEq)]
pub(super) struct KeyState {
    pub(super) always: KeySet,
    pub(super) perhaps: KeySet,
    /// May hold text of a model, a tool or a search.
    pub(super) foreign: KeySet,
    pub(super) anything: bool,
}

/// The facts that it is computed from.
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
        keys.into_iter()
            .filter_map(|key| self.keys.of(key))
            .for_each(|key| set.put(key));
        set
    }

    fn nothing(&self, always: KeySet) -> KeyState {
        KeyState {
            always,
            perhaps: self.set(false),
            foreign: self.set(false),
            anything: false,
        }
    }

    /// Every key that a node writes, since a tool may be called at any time.
    pub(super) fn anywhere(&self) -> KeyState {
        let mut trusted: Vec<&str> = self.at_start.clone();
        let mut untrusted: Vec<&str> = Vec::new();
        for facts in self.facts {
            let keys = facts.keys().map(String::as_str);
            if facts.untrusted {
                untrusted.extend(keys);
            } else {
                trusted.extend(keys);
            }
        }
        let all = trusted.iter().chain(&untrusted).copied();
        let always = self.set_of(all.chain([ERROR]));
        let mut foreign = self.set_of(untrusted.iter().copied());
        foreign.join(&self.set_of(trusted), |one, other| one & !other);
        let anything = self.facts.iter().any(|facts| facts.writes_anything);
        KeyState {
            foreign,
            anything,
            ..self.nothing(always)
        }
    }

    /// Iterates to a fixed point, since graphs have loops.
    pub(super) fn solve(&self, shape: &Shape, start: usize, forks: &[FoundFork]) -> Vec<KeyState> {
        let flat = PointGraph::new(shape, forks, &|node| self.facts[node].iterates.is_some());
        let writes: Vec<KeySet> = self
            .facts
            .iter()
            .map(|facts| self.set_of(facts.keys().map(String::as_str)))
            .collect();
        let mut states = vec![self.nothing(self.set(true)); flat.points.len()];
        let first = self.set_of(self.at_start.iter().copied());
        let order = order(start, &flat);
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for point in &order {
                let at = &flat.points[*point];
                let mut before = self.nothing(self.set(!at.is_join));
                if *point == start {
                    before.always = first.clone();
                    before.perhaps = first.clone();
                }
                for (from, by) in &at.from {
                    let after = self.after(&states[*from], *from, *by, &writes);
                    before.always.join(&after.always, |one, other| {
                        if at.is_join { one | other } else { one & other }
                    });
                    before
                        .perhaps
                        .join(&after.perhaps, |one, other| one | other);
                    before
                        .foreign
                        .join(&after.foreign, |one, other| one | other);
                    before.anything |= after.anything;
                }
                if states[*point] != before {
                    states[*point] = before;
                    has_changed = true;
                }
            }
        }
        states.truncate(self.facts.len());
        states
    }

    /// What is known behind a step, by how it was left.
    fn after(&self, before: &KeyState, point: usize, by: StepExit, writes: &[KeySet]) -> KeyState {
        let mut after = before.clone();
        let Some(of_point) = self.facts.get(point) else {
            return after;
        };
        let written = &writes[point];
        match by {
            StepExit::Done => {
                after.always.join(written, |one, other| one | other);
                after.perhaps.join(written, |one, other| one | other);
                let list = of_point
                    .iterates
                    .as_ref()
                    .and_then(|read| self.keys.of(key(&read.name)));
                if of_point.untrusted || list.is_some_and(|list| before.foreign.has(list)) {
                    after.foreign.join(written, |one, other| one | other);
                }
                let mut value_flows: Vec<_> = of_point
                    .value_flows
                    .iter()
                    .filter_map(|(from, to)| Some((self.keys.of(from)?, self.keys.of(to)?)))
                    .collect();
                // A value may reach another one through a third.
                while let Some(at) = value_flows
                    .iter()
                    .position(|(from, _)| after.foreign.has(*from))
                {
                    after.foreign.put(value_flows.swap_remove(at).1);
                }
                after.anything |= of_point.writes_anything;
            }
            // The item is gone for certain.
            StepExit::Cleared => {
                after.always.join(written, |one, other| one & !other);
                after.perhaps.join(written, |one, other| one & !other);
            }
            StepExit::Failed => {
                if let Some(error) = self.keys.of(ERROR) {
                    after.always.put(error);
                    after.perhaps.put(error);
                    // An error's message may quote a server or a tool.
                    after.foreign.put(error);
                }
            }
        }
        after
    }
}

/// Sources before the points that their values reach, except in loops.
fn order(start: usize, flat: &PointGraph) -> Vec<usize> {
    let mut out = vec![Vec::new(); flat.points.len()];
    for (point, to) in flat.points.iter().enumerate() {
        for (from, _) in &to.from {
            out[*from].push(point);
        }
    }
    reverse_postorder(start, &out)
}
