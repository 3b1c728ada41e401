//! Flows whose routes the compiler checks: what `flow!` states, and how it is walked.

use std::sync::Arc;

use llmnode_runtime::internal::{Label, Walk, guarded};
use llmnode_runtime::{BoxFuture, Category, NodeError};

use super::arm::{Arm, Stop, Target};
use super::drive::Runner;
use super::flowing::{Flowing, Progress, panicked};
use super::outline::{Around, Outline, OutlineStep, OutlineTarget};
use super::place::{Place, Starts};

/// What `flow!` states about a flow over `S`.
pub trait FlowType<S>: Sized + 'static {
    /// What the flow decides in the end.
    type Action: Send + 'static;
    /// The flow's name.
    const NAME: &'static str;
    /// The labels of its steps, the one where it starts first, and the edges that leave each.
    const STOPS: &'static [Stop];
    /// How many steps one run may take, where the flow says so.
    const MAX_STEPS: Option<u64> = None;

    /// Writes the flow's parameters into the state, as it begins.
    fn enter(self, state: &mut S) {
        let _ = state;
    }

    /// Shows the step of an index to the visitor. Each step's type stands here, and nowhere else, so that one that is
    /// no step is one error.
    fn visit<V: Visitor<S, Self::Action>>(step: usize, visitor: V) -> V::Seen;
}

/// Who looks at a step of a flow: to execute it, or to draw it.
pub trait Visitor<S, A>: Sized {
    /// What comes of it.
    type Seen;

    /// A step that begins by itself, and what follows from its action.
    fn step<N: Starts<S>>(self, then: fn(N::Action) -> Arm<A>) -> Self::Seen;

    /// A step that begins by itself on a part of the state.
    fn step_in<N: Starts<P>, P: Send + 'static>(
        self,
        part: for<'s> fn(&'s mut S) -> &'s mut P,
        then: fn(N::Action) -> Arm<A>,
    ) -> Self::Seen;

    /// A step that the flow itself prepares.
    fn step_made<N: Place<P>, P: Send + 'static>(
        self,
        make: fn(&S) -> N,
        part: for<'s> fn(&'s mut S) -> &'s mut P,
        then: fn(N::Action) -> Arm<A>,
    ) -> Self::Seen;

    /// No step has that index.
    fn none(self) -> Self::Seen;
}

/// Executes the step at which the flow stands: what `flow!` delegates to.
pub fn advance<'f, F, S>(
    mut flow: Flowing<'f, S>,
    prepared: Option<F>,
) -> BoxFuture<'f, Result<Progress<F::Action>, NodeError>>
where
    F: FlowType<S>,
    S: Send,
{
    if let Err(error) = flow.check_depth() {
        return Box::pin(std::future::ready(Err(error)));
    }
    if flow.at.at(flow.depth).is_none() {
        if let Some(prepared) = prepared
            && let Err(error) = flow.entered(|state| prepared.enter(state))
        {
            return Box::pin(std::future::ready(Err(error)));
        }
        if let Some(first) = F::STOPS.first() {
            flow.at.go(flow.depth, 0, Label::Known(first.label));
        }
    }
    let label = |step: usize| F::STOPS.get(step).map(|stop| stop.label);
    let step = flow.at.step(flow.depth, F::STOPS.len(), label).unwrap_or(usize::MAX);
    F::visit(step, Advance { flow, stops: F::STOPS, step, name: F::NAME })
}

/// Executes the step that it is shown.
struct Advance<'f, S> {
    flow: Flowing<'f, S>,
    stops: &'static [Stop],
    step: usize,
    name: &'static str,
}

impl<'f, S: Send, A: Send + 'f> Visitor<S, A> for Advance<'f, S> {
    type Seen = BoxFuture<'f, Result<Progress<A>, NodeError>>;

    fn step<N: Starts<S>>(mut self, then: fn(N::Action) -> Arm<A>) -> Self::Seen {
        Box::pin(async move {
            match N::advance(self.flow.nested(|state| state), None).await? {
                Progress::On => Ok(Progress::On),
                Progress::Done(action) => self.take(|| then(action)),
            }
        })
    }

    fn step_in<N: Starts<P>, P: Send + 'static>(
        self,
        part: for<'s> fn(&'s mut S) -> &'s mut P,
        then: fn(N::Action) -> Arm<A>,
    ) -> Self::Seen {
        self.on(None::<fn(&S) -> N>, part, then)
    }

    fn step_made<N: Place<P>, P: Send + 'static>(
        self,
        make: fn(&S) -> N,
        part: for<'s> fn(&'s mut S) -> &'s mut P,
        then: fn(N::Action) -> Arm<A>,
    ) -> Self::Seen {
        self.on(Some(make), part, then)
    }

    fn none(self) -> Self::Seen {
        Box::pin(std::future::ready(Err(self.flow.no_step(self.name))))
    }
}

impl<'f, S: Send> Advance<'f, S> {
    /// Executes a step on a part of the state, made by the flow where it begins, or else by itself.
    fn on<N: Place<P>, P: Send + 'static, A: Send + 'f>(
        mut self,
        make: Option<fn(&S) -> N>,
        part: for<'s> fn(&'s mut S) -> &'s mut P,
        then: fn(N::Action) -> Arm<A>,
    ) -> BoxFuture<'f, Result<Progress<A>, NodeError>> {
        Box::pin(async move {
            let flow = self.flow.nested(|state| state);
            let make = make.filter(|_| !flow.begun());
            let prepared = make.map(|make| flow.prepared(make)).transpose()?;
            match N::advance(flow.on(part)?, prepared).await? {
                Progress::On => Ok(Progress::On),
                Progress::Done(action) => self.take(|| then(action)),
            }
        })
    }

    /// Takes an edge.
    fn take<A>(mut self, then: impl FnOnce() -> Arm<A>) -> Result<Progress<A>, NodeError> {
        let arm = guarded(then).map_err(|said| panicked("what follows from an action", said))?;
        let stop = self.stops.get(self.step);
        let edge = stop.and_then(|stop| stop.edges.get(arm.edge));
        let name = edge.map_or("", |edge| edge.action);
        if let Some(action) = arm.action {
            self.flow.ends(name);
            return Ok(Progress::Done(action));
        }
        if let Some(Target::Step(next)) = edge.map(|edge| edge.to)
            && let Some(stop) = self.stops.get(next)
        {
            self.flow.goes(name, next, Label::Known(stop.label));
            return Ok(Progress::On);
        }
        let label = stop.map_or("", |stop| stop.label);
        let by = if name.is_empty() { String::new() } else { format!(" by `{name}`") };
        let message =
            format!("the flow `{}` goes nowhere yet from `{label}`{by}: `todo!()` stands there", self.name);
        Err(NodeError::new(Category::ConfigError, message))
    }
}

/// What `Place::outline_within` of a typed flow is.
pub fn outline<F: FlowType<S>, S>(around: Around<'_>) -> Outline {
    let Some(around) = around.and::<F>() else { return Outline::Flow(F::NAME.into(), Vec::new()) };
    let steps = F::STOPS.iter().enumerate().map(|(index, stop)| OutlineStep {
        label: stop.label.into(),
        place: F::visit(index, Outlining(around)),
        edges: stop.edges.iter().map(|edge| (edge.action.into(), target(F::STOPS, edge.to))).collect(),
    });
    Outline::Flow(F::NAME.into(), steps.collect())
}

fn target(stops: &'static [Stop], target: Target) -> OutlineTarget {
    match target {
        Target::Step(index) if index < stops.len() => OutlineTarget::Step(stops[index].label.into()),
        Target::End => OutlineTarget::End,
        _ => OutlineTarget::Todo,
    }
}

/// Outlines the step that it is shown.
struct Outlining<'a>(Around<'a>);

impl<S, A> Visitor<S, A> for Outlining<'_> {
    type Seen = Outline;

    fn step<N: Starts<S>>(self, _: fn(N::Action) -> Arm<A>) -> Outline {
        N::outline_within(self.0)
    }

    fn step_in<N: Starts<P>, P: Send + 'static>(
        self,
        _: for<'s> fn(&'s mut S) -> &'s mut P,
        _: fn(N::Action) -> Arm<A>,
    ) -> Outline {
        N::outline_within(self.0)
    }

    fn step_made<N: Place<P>, P: Send + 'static>(
        self,
        _: fn(&S) -> N,
        _: for<'s> fn(&'s mut S) -> &'s mut P,
        _: fn(N::Action) -> Arm<A>,
    ) -> Outline {
        N::outline_within(self.0)
    }

    fn none(self) -> Outline {
        Outline::Node("".into())
    }
}

/// What `RunFlow::runner` of a typed flow is.
pub fn runner<'r, F, S>(flow: F) -> Runner<'r, S, F::Action>
where
    F: FlowType<S> + Send + 'r,
    S: Send + 'r,
{
    let mut entering = Some(flow);
    Runner {
        name: F::NAME.into(),
        max_steps: F::MAX_STEPS,
        outline: Arc::new(|| outline::<F, S>(Around::default())),
        advance: Box::new(move |flow| advance(flow, entering.take())),
    }
}
