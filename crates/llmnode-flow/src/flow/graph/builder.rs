//! Builds a flow at run time.

use std::borrow::Cow;
use std::fmt;

use llmnode_runtime::BoxError;

use super::dynamic_step::DynamicStep;
use super::{ActionName, Flow, NestedFlow, named_arm};
use crate::flow::action::{Action, DEFAULT};
use crate::flow::outline::{EdgeTarget, Outline};
use crate::flow::runnable::{Runnable, Startable};
use crate::flow::step::PreparedStep;
use crate::flow::table::ErasedStep;
use crate::flow::table::TypedStep;

/// Builds a flow from steps and edges, added in any order. It starts at the first step, unless
/// [`start`](FlowBuilder::start) names another.
#[must_use = "call `build` to get the flow"]
pub struct FlowBuilder<S> {
    pub(super) name: Cow<'static, str>,
    pub(super) steps: Vec<BuilderStep<S>>,
    pub(super) edges: Vec<BuilderEdge>,
    pub(super) start: Option<String>,
    pub(super) max_steps: Option<u64>,
}

pub(super) struct BuilderStep<S> {
    pub(super) label: String,
    /// `None`: any text may be an action.
    pub(super) actions: Option<Vec<Cow<'static, str>>>,
    pub(super) erased_step: Box<dyn ErasedStep<S, ActionName>>,
}

pub(super) struct BuilderEdge {
    pub(super) from: String,
    pub(super) action: String,
    pub(super) to: EdgeTarget,
}

impl<S> Flow<S> {
    /// Starts building a flow of this name.
    pub fn builder(name: impl Into<Cow<'static, str>>) -> FlowBuilder<S> {
        FlowBuilder::new(name.into())
    }
}

impl<S> FlowBuilder<S> {
    fn new(name: Cow<'static, str>) -> Self {
        FlowBuilder {
            name,
            steps: Vec::new(),
            edges: Vec::new(),
            start: None,
            max_steps: None,
        }
    }

    /// Adds an edge from a step, for the action of this name. An empty name is
    /// `"default"`, the action of steps that decide nothing.
    pub fn on(
        mut self,
        from: impl Into<String>,
        action: impl Into<String>,
        to: impl Into<EdgeTarget>,
    ) -> Self {
        let action = Some(action.into()).filter(|action| !action.is_empty());
        let action = action.unwrap_or_else(|| DEFAULT.to_owned());
        self.edges.push(BuilderEdge {
            from: from.into(),
            action,
            to: to.into(),
        });
        self
    }

    /// Adds an edge from a step that decides nothing: short for
    /// [`on`](FlowBuilder::on) with `"default"`.
    pub fn then(self, from: impl Into<String>, to: impl Into<EdgeTarget>) -> Self {
        self.on(from, DEFAULT, to)
    }

    /// Sets where the flow starts. Default: at its first step.
    pub fn start(mut self, label: impl Into<String>) -> Self {
        self.start = Some(label.into());
        self
    }

    /// Sets how many steps one run may take, including those of nested flows. Default: 1000.
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.max_steps = Some(steps);
        self
    }

    fn erased_step(
        mut self,
        label: impl Into<String>,
        actions: Option<Vec<Cow<'static, str>>>,
        erased_step: impl ErasedStep<S, ActionName> + 'static,
    ) -> Self {
        self.steps.push(BuilderStep {
            label: label.into(),
            actions,
            erased_step: Box::new(erased_step),
        });
        self
    }
}

impl<S: Send + Sync + 'static> FlowBuilder<S> {
    /// Adds a step: a node that prepares itself from the state, or a flow that `flow!` declares.
    pub fn step<N: Startable<S, Action: Action>>(self, label: impl Into<String>) -> Self {
        self.step_in::<N, S>(label, |state| state)
    }

    /// Adds a step whose node this function makes each time the flow reaches it.
    /// The `prep` of the node is not called.
    pub fn step_with<N>(
        self,
        label: impl Into<String>,
        prepare: impl Fn(&S) -> N + Send + Sync + 'static,
    ) -> Self
    where
        N: Runnable<S, Action: Action> + Send,
    {
        self.erased_step(
            label,
            names::<N::Action>(),
            TypedStep {
                make: Some(prepare),
                part: |state: &mut S| state,
                then: |action: N::Action| named_arm(action.name()),
            },
        )
    }

    /// Adds a step whose node this function makes each time the flow reaches it.
    /// Its name in pictures, records and the journal is known only at run time.
    /// `actions` lists all actions of the step. If the function fails, the flow
    /// ends with [`prep_error`](llmnode_runtime::Category::PrepError); a
    /// [`NodeError`](llmnode_runtime::NodeError) keeps its category. The `prep` of a [`Step`](crate::flow::Step) is not called.
    pub fn made<N, A>(
        self,
        label: impl Into<String>,
        place: impl Into<Outline>,
        actions: impl IntoIterator<Item = A>,
        make: impl Fn(&S) -> Result<N, BoxError> + Send + Sync + 'static,
    ) -> Self
    where
        N: PreparedStep<S, Action: Action> + Send + 'static,
        A: Into<Cow<'static, str>>,
    {
        let actions = actions.into_iter().map(Into::into).collect();
        self.erased_step(
            label,
            Some(actions),
            DynamicStep {
                outline: place.into(),
                make,
            },
        )
    }

    /// Adds a step over a part of the state.
    pub fn step_in<N, P>(
        self,
        label: impl Into<String>,
        part: for<'s> fn(&'s mut S) -> &'s mut P,
    ) -> Self
    where
        N: Startable<P, Action: Action>,
        P: Send + 'static,
    {
        self.erased_step(
            label,
            names::<N::Action>(),
            TypedStep {
                make: None::<fn(&S) -> N>,
                part,
                then: |action: N::Action| named_arm(action.name()),
            },
        )
    }

    /// Adds a flow that was built at run time. Its last action is the action of the step.
    pub fn flow(self, label: impl Into<String>, flow: &Flow<S>) -> Self {
        self.flow_in(label, |state| state, flow)
    }

    /// Adds a flow that was built at run time, over a part of the state.
    pub fn flow_in<P: Send + Sync + 'static>(
        self,
        label: impl Into<String>,
        part: for<'s> fn(&'s mut S) -> &'s mut P,
        flow: &Flow<P>,
    ) -> Self {
        self.erased_step(label, None, NestedFlow(part, flow.clone()))
    }
}

fn names<A: Action>() -> Option<Vec<Cow<'static, str>>> {
    A::NAMES.map(|names| names.iter().map(|name| Cow::Borrowed(*name)).collect())
}

impl<S> fmt::Debug for FlowBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels: Vec<_> = self.steps.iter().map(|step| &step.label).collect();
        f.debug_struct("FlowBuilder")
            .field("name", &self.name)
            .field("steps", &labels)
            .finish_non_exhaustive()
    }
}
