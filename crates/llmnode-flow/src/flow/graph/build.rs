//! Turns the steps and edges of a builder into a flow, unless there are mistakes.

use std::sync::Arc;

use llmnode_runtime::NodeError;
use llmnode_runtime::ext::Label;

use super::Flow;
use super::builder::{BuilderEdge, FlowBuilder};
use super::check::check;
use super::faults::cannot_be_built;
use crate::flow::outline::EdgeTarget;
use crate::flow::table::{Edge, Table, TableStep, Target};

impl<S> FlowBuilder<S> {
    /// Builds the flow.
    ///
    /// # Errors
    /// A `config_error` that lists all mistakes, one per line.
    pub fn build(self) -> Result<Flow<S>, NodeError> {
        let faults = check(&self);
        if !faults.is_empty() {
            return Err(cannot_be_built(&self.name, &faults));
        }
        let FlowBuilder {
            name,
            mut steps,
            edges,
            start,
            max_steps,
        } = self;
        if let Some(start) =
            start.and_then(|start| steps.iter().position(|step| step.label == start))
        {
            let first = steps.remove(start);
            steps.insert(0, first);
        }
        let indices: std::collections::HashMap<_, _> = steps
            .iter()
            .enumerate()
            .map(|(index, step)| (step.label.clone(), index))
            .collect();
        let mut steps: Vec<_> = steps
            .into_iter()
            .map(|step| TableStep {
                label: Label::Shared(step.label.into()),
                edges: Vec::new(),
                erased_step: step.erased_step,
            })
            .collect();
        for BuilderEdge { from, action, to } in edges {
            let to = match to {
                EdgeTarget::Step(label) => indices
                    .get(&*label)
                    .map_or(Target::Todo, |index| Target::Step(*index)),
                EdgeTarget::End => Target::End,
                EdgeTarget::Todo => Target::Todo,
            };
            if let Some(step) = indices.get(&from).and_then(|from| steps.get_mut(*from)) {
                step.edges.push(Edge {
                    action: action.into(),
                    to,
                });
            }
        }
        Ok(Flow(Arc::new(Table {
            name,
            max_steps,
            steps,
        })))
    }
}
