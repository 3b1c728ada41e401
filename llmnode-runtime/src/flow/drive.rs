//! Driving a flow: one step after the other, to its end.

use std::borrow::Cow;
use std::fmt;
use std::future::IntoFuture;

use super::flowing::{Flowing, Progress};
use super::follow::{Beginning, Begun, Follower};
use super::outline::Outline;
use super::place::Place;
use super::position::Position;
use super::step::Step;
use crate::BoxFuture;
use crate::category::Category;
use crate::error::NodeError;
use crate::run::Run;

/// How many steps a flow may take that says nothing else.
const MAX_STEPS: u64 = 1000;

/// What [`Run::flow`] takes: a flow that `flow!` declares, or a reference to one that was built at run time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a flow over `{S}`",
    label = "not a flow of this state",
    note = "`flow! {{ Name(State): .. }}` declares one; the state of the run, `Run::new(model).with_state(state)`, must be the same type"
)]
pub trait RunFlow<'r, S> {
    /// What the flow decides in the end.
    type Action: Send + 'static;

    /// How it is run.
    fn runner(self) -> Runner<'r, S, Self::Action>;
}

type Advance<'r, S, A> =
    dyn for<'f> FnMut(Flowing<'f, S>) -> BoxFuture<'f, Result<Progress<A>, NodeError>> + Send + 'r;

/// How a flow is run.
pub struct Runner<'r, S, A> {
    pub(super) name: Cow<'static, str>,
    pub(super) max_steps: Option<u64>,
    pub(super) outline: fn() -> Outline,
    pub(super) advance: Box<Advance<'r, S, A>>,
}

/// A flow that starts when it is awaited.
#[must_use = "a flow does nothing until it is awaited"]
pub struct FlowCall<'r, S, A> {
    run: &'r mut Run<S>,
    runner: Runner<'r, S, A>,
    max_steps: Option<u64>,
    from: Position,
    follower: Option<Box<dyn Follower<S, A> + 'r>>,
}

impl<S> Run<S> {
    /// Runs a flow on the state, from its first step to its end, and gives its action.
    pub fn flow<'r, F: RunFlow<'r, S>>(&'r mut self, flow: F) -> FlowCall<'r, S, F::Action> {
        FlowCall {
            run: self,
            runner: flow.runner(),
            max_steps: None,
            from: Position::default(),
            follower: None,
        }
    }

    /// Runs one step on the state: prep, exec with its tries and fallback, post. Gives its action.
    ///
    /// # Errors
    /// Those of prep and post, and whatever kept the node from an output.
    pub async fn step<N>(&mut self) -> Result<N::Action, NodeError>
    where
        N: Step<S> + Send + 'static,
        S: Send + Sync,
    {
        let mut at = Position::default();
        let (core, state) = self.parts();
        match <N as Place<S>>::advance(Flowing { core, state, at: &mut at, depth: 0 }, None).await? {
            Progress::Done(action) => Ok(action),
            // A node is done when it has been advanced.
            Progress::On => Err(NodeError::new(Category::ConfigError, "a node went on after its end")),
        }
    }
}

impl<'r, S, A> FlowCall<'r, S, A> {
    /// How many steps it may take, those of nested flows included. Default: what the flow says, or 1000.
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.max_steps = Some(steps);
        self
    }

    /// Starts at this step instead of the first.
    pub fn from(mut self, position: Position) -> Self {
        self.from = position;
        self
    }

    /// Sets who follows the flow from step to step.
    #[cfg(feature = "journal")]
    pub(crate) fn followed_by(mut self, follower: impl Follower<S, A> + 'r) -> Self {
        self.follower = Some(Box::new(follower));
        self
    }
}

impl<'r, S, A> IntoFuture for FlowCall<'r, S, A>
where
    S: Send + Sync,
    A: Send + 'static,
{
    type Output = Result<A, NodeError>;
    type IntoFuture = BoxFuture<'r, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let max_steps = self.max_steps.or(self.runner.max_steps).unwrap_or(MAX_STEPS);
        Box::pin(self.drive(max_steps))
    }
}

impl<'r, S, A> FlowCall<'r, S, A>
where
    S: Send + Sync,
    A: Send + 'static,
{
    async fn drive(self, max_steps: u64) -> Result<A, NodeError> {
        let FlowCall { run, mut runner, from: mut at, mut follower, .. } = self;
        let (mut followed, mut taken) = (None, 0);
        if let Some(follower) = &mut follower {
            let (core, state) = run.parts();
            let flow = Beginning { outline: (runner.outline)(), core, state, at: &mut at };
            match follower.begin(flow).await? {
                Begun::Steps { core, taken: before } => (followed, taken) = (Some(core), before),
                Begun::Ended(action) => return Ok(action),
            }
        }
        while taken < max_steps {
            // A flow whose steps never have to wait gives other tasks a turn all the same.
            tokio::task::consume_budget().await;
            let (core, state) = run.parts();
            let core = followed.as_deref().unwrap_or(core);
            let left = follower.is_some().then(|| at.clone());
            let flow = Flowing { core, state: &mut *state, at: &mut at, depth: 0 };
            let progress = (runner.advance)(flow).await;
            if let (Some(follower), Some(left)) = (&mut follower, left) {
                follow(&mut **follower, left, &at, state, &progress).await?;
            }
            match progress? {
                Progress::On => taken += 1,
                Progress::Done(action) => return Ok(action),
            }
        }
        let message = format!(
            "the flow `{}` has not ended after {max_steps} steps and stands at `{at}`; `max_steps` sets how many it may take",
            runner.name
        );
        Err(NodeError::new(Category::LimitExceeded, message))
    }
}

/// Tells the follower what a step came to.
fn follow<'f, S, A>(
    follower: &'f mut dyn Follower<S, A>,
    left: Position,
    at: &Position,
    state: &S,
    progress: &Result<Progress<A>, NodeError>,
) -> BoxFuture<'f, Result<(), NodeError>> {
    match progress {
        Ok(Progress::On) => follower.stepped(left, at, state, None),
        Ok(Progress::Done(action)) => follower.stepped(left, at, state, Some(action)),
        Err(_) => {
            let kept = follower.failed();
            Box::pin(async move {
                kept.await;
                Ok(())
            })
        }
    }
}

impl<S, A> fmt::Debug for Runner<'_, S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner")
            .field("name", &self.name)
            .field("outline", &(self.outline)())
            .finish_non_exhaustive()
    }
}

impl<S, A> fmt::Debug for FlowCall<'_, S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowCall")
            .field("flow", &self.runner.name)
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}
