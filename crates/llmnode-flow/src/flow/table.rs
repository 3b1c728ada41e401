//! The table of a flow and how it is walked: one engine for flows that `flow!`
//! declares and for those built at run time.

use std::borrow::Cow;

use llmnode_model::internal::catch_panic;
use llmnode_reader::text::one_line;
use llmnode_runtime::ext::{Label, PositionExt};
use llmnode_runtime::{BoxFuture, Category, NodeError};

use super::action::DEFAULT;
use super::cursor::{FlowCursor, Progress, panicked};
use super::outline::{EdgeTarget, OuterFlows, Outline, OutlineStep};
use super::runnable::{Runnable, Startable};

/// A flow over `S` that decides an `A` in the end.
pub struct Table<S, A> {
    pub(super) name: Cow<'static, str>,
    pub(super) max_steps: Option<u64>,
    pub(super) steps: Vec<TableStep<S, A>>,
}

pub(super) struct TableStep<S, A> {
    pub(super) label: Label,
    pub(super) edges: Vec<Edge>,
    pub(super) erased_step: Box<dyn ErasedStep<S, A>>,
}

pub(super) trait ErasedStep<S, A>: Send + Sync {
    fn advance<'f>(
        &'f self,
        flow: FlowCursor<'f, S>,
        at: (&'f Table<S, A>, &'f TableStep<S, A>),
    ) -> BoxFuture<'f, Result<Progress<A>, NodeError>>;

    fn outline(&self, around: OuterFlows<'_>) -> Outline;
}

/// An edge that leaves a step.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Empty for a plain arrow of `flow!`, and `"default"` for one of a builder.
    pub(super) action: Cow<'static, str>,
    pub(super) to: Target,
}

/// Where an edge leads.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// To the step of that index.
    Step(usize),
    /// Out of the flow.
    End,
    /// Nowhere yet: `todo!()`.
    Todo,
}

/// The edge that is taken, and the flow's own action, if it may lead out.
#[derive(Debug)]
pub struct Arm<A> {
    pub(super) edge: EdgeSelector<A>,
    pub(super) action: Option<A>,
}

#[derive(Debug)]
pub(super) enum EdgeSelector<A> {
    Index(usize),
    /// By the action's name. The function converts it to the flow's own action if
    /// the edge leads out.
    Action(Cow<'static, str>, fn(Cow<'static, str>) -> A),
}

impl Edge {
    /// An edge of this action.
    pub const fn new(action: &'static str, to: Target) -> Self {
        Edge {
            action: Cow::Borrowed(action),
            to,
        }
    }

    fn shown(&self) -> &str {
        if self.action == DEFAULT {
            ""
        } else {
            &self.action
        }
    }
}

impl<A> Arm<A> {
    /// To a step, or to none yet.
    pub fn to(edge: usize) -> Self {
        Arm {
            edge: EdgeSelector::Index(edge),
            action: None,
        }
    }

    /// Out of the flow.
    pub fn end(edge: usize, action: A) -> Self {
        Arm {
            edge: EdgeSelector::Index(edge),
            action: Some(action),
        }
    }
}

impl<S: Send + 'static, A: Send + 'static> Table<S, A> {
    /// A flow of that name without steps.
    pub fn new(name: &'static str, max_steps: Option<u64>) -> Self {
        Table {
            name: name.into(),
            max_steps,
            steps: Vec::new(),
        }
    }

    pub(super) fn erased_step(
        mut self,
        label: &'static str,
        edges: impl Into<Vec<Edge>>,
        erased_step: impl ErasedStep<S, A> + 'static,
    ) -> Self {
        let label = Label::Static(label);
        let edges = edges.into();
        self.steps.push(TableStep {
            label,
            edges,
            erased_step: Box::new(erased_step),
        });
        self
    }
}

impl<S, A> Table<S, A> {
    /// `enter` writes the flow's parameters into the state when the flow begins.
    pub(super) fn advance<'f>(
        &'f self,
        mut flow: FlowCursor<'f, S>,
        enter: Option<impl FnOnce(&mut S)>,
    ) -> BoxFuture<'f, Result<Progress<A>, NodeError>>
    where
        A: Send + 'f,
    {
        match self.current_step(&mut flow, enter) {
            Ok(step) => step.erased_step.advance(flow, (self, step)),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn current_step(
        &self,
        flow: &mut FlowCursor<'_, S>,
        enter: Option<impl FnOnce(&mut S)>,
    ) -> Result<&TableStep<S, A>, NodeError> {
        flow.check_depth()?;
        if flow.at.at(flow.depth).is_none() {
            if let Some(enter) = enter {
                flow.write_parameters(enter)?;
            }
            if let Some(first) = self.steps.first() {
                flow.at.go(flow.depth, 0, first.label.clone());
            }
        }
        let index = flow.at.step(flow.depth, self.steps.len(), |step: usize| {
            self.steps.get(step).map(|step| step.label.as_str())
        });
        index
            .and_then(|index| self.steps.get(index))
            .ok_or_else(|| flow.unknown_step(&self.name))
    }

    pub(super) fn take_edge(
        &self,
        step: &TableStep<S, A>,
        flow: &mut FlowCursor<'_, S>,
        then: impl FnOnce() -> Arm<A>,
    ) -> Result<Progress<A>, NodeError> {
        let arm = catch_panic(then)
            .map_err(|message| panicked("what follows from an action", message))?;
        let edge = match &arm.edge {
            EdgeSelector::Index(index) => step.edges.get(*index),
            EdgeSelector::Action(action, _) => {
                step.edges.iter().find(|edge| edge.action == *action)
            }
        };
        let shown = edge.map_or("", Edge::shown);
        if let Some(Target::Step(to)) = edge.map(|edge| edge.to)
            && let Some(next) = self.steps.get(to)
        {
            flow.follow_edge(shown, to, next.label.clone());
            return Ok(Progress::Continue);
        }
        match (edge.map(|edge| edge.to), arm) {
            (
                Some(Target::End),
                Arm {
                    action: Some(action),
                    ..
                },
            ) => {
                flow.leave_flow(shown);
                Ok(Progress::Done(action))
            }
            (
                Some(Target::End),
                Arm {
                    edge: EdgeSelector::Action(action, convert),
                    ..
                },
            ) => {
                flow.leave_flow(shown);
                Ok(Progress::Done(convert(action)))
            }
            (_, arm) => Err(NodeError::new(
                Category::ConfigError,
                self.nowhere(step, edge, &arm.edge),
            )),
        }
    }

    fn nowhere(&self, step: &TableStep<S, A>, edge: Option<&Edge>, by: &EdgeSelector<A>) -> String {
        let label = step.label.as_str();
        let name = &self.name;
        if let (None, EdgeSelector::Action(action, _)) = (edge, by) {
            let actions: Vec<_> = step
                .edges
                .iter()
                .map(|edge| format!("`{}`", edge.action))
                .collect();
            let action = one_line(&**action, 200);
            let actions = one_line(actions.join(", "), 500);
            return format!(
                "the step `{label}` of the flow `{name}` returned the action `{action}`, but has \
                 no edge for it; its edges are for {actions}"
            );
        }
        let action = edge.map_or("", Edge::shown);
        let by = if action.is_empty() {
            String::new()
        } else {
            format!(" by `{action}`")
        };
        format!("the flow `{name}` has `todo!()` after `{label}`{by}; write the next step there")
    }

    pub(super) fn outline(&self, around: OuterFlows<'_>) -> Outline {
        let steps = self.steps.iter().map(|step| OutlineStep {
            label: step.label.to_cow(),
            place: step.erased_step.outline(around),
            edges: step
                .edges
                .iter()
                .map(|edge| (edge.shown().to_owned().into(), self.target(edge)))
                .collect(),
        });
        Outline::Flow(self.name.clone(), steps.collect())
    }

    fn target(&self, edge: &Edge) -> EdgeTarget {
        match edge.to {
            Target::Step(to) => match self.steps.get(to) {
                Some(step) => EdgeTarget::Step(step.label.to_cow()),
                None => EdgeTarget::Todo,
            },
            Target::End => EdgeTarget::End,
            Target::Todo => EdgeTarget::Todo,
        }
    }
}

/// A step over a part of the state. Without `made` it prepares itself.
pub(super) struct TypedStep<S, P, Make, Then> {
    pub(super) make: Option<Make>,
    pub(super) part: for<'s> fn(&'s mut S) -> &'s mut P,
    pub(super) then: Then,
}

impl<S, P, N, A, Make, Then> ErasedStep<S, A> for TypedStep<S, P, Make, Then>
where
    S: Send + 'static,
    P: Send + 'static,
    N: Runnable<P>,
    A: Send + 'static,
    Make: Fn(&S) -> N + Send + Sync,
    Then: Fn(N::Action) -> Arm<A> + Send + Sync,
{
    fn advance<'f>(
        &'f self,
        mut flow: FlowCursor<'f, S>,
        (table, step): (&'f Table<S, A>, &'f TableStep<S, A>),
    ) -> BoxFuture<'f, Result<Progress<A>, NodeError>> {
        Box::pin(async move {
            let inner = flow.nested();
            // A nested flow that has begun is already prepared.
            let make = self.make.as_ref().filter(|_| !inner.begun());
            let prepared = make.map(|make| inner.prepared(make)).transpose()?;
            match N::advance(inner.on(self.part)?, prepared).await? {
                Progress::Continue => Ok(Progress::Continue),
                Progress::Done(action) => table.take_edge(step, &mut flow, || (self.then)(action)),
            }
        })
    }

    fn outline(&self, around: OuterFlows<'_>) -> Outline {
        N::outline_within(around)
    }
}

impl<S: Send + 'static, A: Send + 'static> Table<S, A> {
    /// Adds a step that prepares itself, and what follows from its action.
    #[must_use]
    pub fn step<N: Startable<S>>(
        self,
        label: &'static str,
        edges: impl Into<Vec<Edge>>,
        then: fn(N::Action) -> Arm<A>,
    ) -> Self {
        self.step_in::<N, S>(label, edges, |state| state, then)
    }

    /// Adds a step that prepares itself from a part of the state.
    #[must_use]
    pub fn step_in<N: Startable<P>, P: Send + 'static>(
        self,
        label: &'static str,
        edges: impl Into<Vec<Edge>>,
        part: for<'s> fn(&'s mut S) -> &'s mut P,
        then: fn(N::Action) -> Arm<A>,
    ) -> Self {
        self.erased_step(
            label,
            edges,
            TypedStep {
                make: None::<fn(&S) -> N>,
                part,
                then,
            },
        )
    }

    /// Adds a step that the flow itself prepares.
    #[must_use]
    pub fn step_with<N: Runnable<P>, P: Send + 'static>(
        self,
        label: &'static str,
        edges: impl Into<Vec<Edge>>,
        make: fn(&S) -> N,
        part: for<'s> fn(&'s mut S) -> &'s mut P,
        then: fn(N::Action) -> Arm<A>,
    ) -> Self {
        self.erased_step(
            label,
            edges,
            TypedStep {
                make: Some(make),
                part,
                then,
            },
        )
    }
}
