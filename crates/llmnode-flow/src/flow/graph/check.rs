//! Finds what is wrong with a flow before it is built: each mistake once.

use std::collections::{BTreeMap, BTreeSet};

use llmnode_reader::text::nearest;

use super::builder::{BuilderEdge, BuilderStep, FlowBuilder};
use super::faults::FlowFault;
use crate::flow::outline::EdgeTarget;

/// Leaves out what only follows from another mistake.
pub(super) fn check<S>(flow: &FlowBuilder<S>) -> Vec<FlowFault> {
    if flow.steps.is_empty() {
        return vec![FlowFault::NoSteps];
    }
    let mut checked = Checker {
        labels: BTreeSet::new(),
        edges: BTreeMap::new(),
        faults: Vec::new(),
    };
    checked.labels(flow);
    checked.edges(flow);
    checked.actions(flow);
    // With a wrong edge, a step may only seem unreachable.
    if checked.faults.is_empty() {
        checked.ways(flow);
    }
    checked.faults
}

struct Checker<'b> {
    labels: BTreeSet<&'b str>,
    /// By step: actions that have an edge, or would have one but for another mistake.
    edges: BTreeMap<&'b str, BTreeSet<&'b str>>,
    faults: Vec<FlowFault>,
}

impl<'b> Checker<'b> {
    fn labels<S>(&mut self, flow: &'b FlowBuilder<S>) {
        let mut twice = BTreeSet::new();
        for BuilderStep { label, .. } in &flow.steps {
            if label.is_empty() {
                self.faults.push(FlowFault::EmptyLabel);
            } else if !self.labels.insert(label) && twice.insert(label) {
                self.faults.push(FlowFault::DuplicateLabel {
                    label: label.clone(),
                });
            }
        }
        if let Some(label) = flow
            .start
            .as_ref()
            .filter(|start| !self.labels.contains(start.as_str()))
        {
            let fault = FlowFault::UnknownStart {
                label: label.clone(),
                nearest: self.nearest(label),
            };
            self.faults.push(fault);
        }
    }

    fn edges<S>(&mut self, flow: &'b FlowBuilder<S>) {
        for BuilderEdge { from, action, to } in &flow.edges {
            let label = from.clone();
            let action_name = action.clone();
            if let EdgeTarget::Step(to) = to
                && !self.labels.contains(&**to)
            {
                let nearest = self.nearest(to);
                self.faults.push(FlowFault::UnknownTarget {
                    label,
                    action: action_name,
                    to: to.to_string(),
                    nearest,
                });
            }
            let label = from.clone();
            let action_name = action.clone();
            if self.labels.contains(from.as_str()) {
                if !self.edges.entry(from).or_default().insert(action) {
                    self.faults.push(FlowFault::DuplicateEdge {
                        label,
                        action: action_name,
                    });
                }
                continue;
            }
            let meant = nearest(from, self.labels.iter().copied());
            if let Some(meant) = meant {
                self.edges.entry(meant).or_default().insert(action);
            }
            let nearest = meant.map(str::to_owned);
            self.faults.push(FlowFault::UnknownStep {
                label,
                action: action_name,
                nearest,
            });
        }
    }

    fn actions<S>(&mut self, flow: &'b FlowBuilder<S>) {
        let none = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let once = flow
            .steps
            .iter()
            .filter(|step| !step.label.is_empty() && seen.insert(step.label.as_str()));
        for BuilderStep { label, actions, .. } in once {
            let stated = self.edges.get(label.as_str()).unwrap_or(&none);
            let Some(names) = actions else {
                if stated.is_empty() {
                    self.faults.push(FlowFault::NoEdges {
                        label: label.clone(),
                    });
                }
                continue;
            };
            let mut missing: Vec<_> = names
                .iter()
                .map(|name| &**name)
                .filter(|name| !stated.contains(name))
                .collect();
            for action in stated
                .iter()
                .filter(|action| !names.iter().any(|name| name == *action))
            {
                let meant = nearest(action, missing.iter().copied());
                missing.retain(|name| Some(*name) != meant);
                let actions = names.iter().map(|name| &**name);
                let nearest = meant
                    .or_else(|| nearest(action, actions))
                    .map(str::to_owned);
                let label = label.clone();
                let action = (*action).to_owned();
                self.faults.push(FlowFault::UnknownAction {
                    label,
                    action,
                    nearest,
                });
            }
            let missing = missing.into_iter();
            self.faults
                .extend(missing.map(|action| FlowFault::MissingEdge {
                    label: label.clone(),
                    action: (*action).to_owned(),
                }));
        }
    }

    fn ways<S>(&mut self, flow: &'b FlowBuilder<S>) {
        let mut ways: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for BuilderEdge { from, to, .. } in &flow.edges {
            if let EdgeTarget::Step(to) = to {
                ways.entry(from).or_default().push(to);
            }
        }
        let start = flow
            .start
            .as_deref()
            .or_else(|| flow.steps.first().map(|step| step.label.as_str()));
        let mut open: Vec<_> = start.into_iter().collect();
        let mut reached: BTreeSet<_> = open.iter().copied().collect();
        while let Some(label) = open.pop() {
            let next = ways.get(label).into_iter().flatten().copied();
            open.extend(next.filter(|label| reached.insert(label)));
        }
        let lost = flow
            .steps
            .iter()
            .filter(|step| !reached.contains(step.label.as_str()));
        self.faults.extend(lost.map(|step| FlowFault::Unreachable {
            label: step.label.clone(),
        }));
    }

    fn nearest(&self, label: &str) -> Option<String> {
        nearest(label, self.labels.iter().copied()).map(str::to_owned)
    }
}
