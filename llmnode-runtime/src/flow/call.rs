//! A flow as it is asked for: settings first, then an await.

use std::fmt;
use std::future::IntoFuture;

use tracing::Instrument;

use super::book::FlowWatch;
use super::drive::{Drive, Orders, RunFlow, Runner};
use super::event::FlowEvent;
use super::flowing::{Flowing, Progress};
#[cfg(feature = "journal")]
use super::follow::Follower;
use super::log::{Log, Watchers};
use super::outline::Outline;
use super::place::Place;
use super::record::FlowRecord;
use super::step::Step;
use crate::BoxFuture;
use crate::category::Category;
use crate::error::NodeError;
use crate::ledger::Tally;
use crate::position::Position;
use crate::run::Run;
use crate::trace::StepSpan;

/// A flow that starts when it is awaited.
///
/// Dropping its future ends it between two steps: what a step that was under way would have written is not written, and
/// nothing works on it afterwards.
#[must_use = "a flow does nothing until it is awaited"]
pub struct FlowCall<'r, S, A> {
    run: &'r mut Run<S>,
    runner: Runner<'r, S, A>,
    orders: Orders<'r, S, A>,
}

impl<S> Run<S> {
    /// Runs a flow on the state, from its first step to its end, and gives its action.
    ///
    /// # Errors
    /// That of the step which ended it; [`NodeError::position`] says which. What the steps before did to the state stays.
    pub fn flow<'r, F: RunFlow<'r, S>>(&'r mut self, flow: F) -> FlowCall<'r, S, F::Action> {
        FlowCall::new(self, flow.runner())
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
        let (mut at, tally, mut log) = (Position::default(), Tally::default(), Alone);
        let (core, state) = self.parts();
        let flowing = Flowing { core, state, at: &mut at, depth: 0, tally: &tally, log: &mut log };
        match <N as Place<S>>::advance(flowing, None).await? {
            Progress::Done(action) => Ok(action),
            // A node is done when it has been advanced.
            Progress::On => Err(NodeError::new(Category::ConfigError, "a node went on after its end")),
        }
    }
}

/// A step outside of any flow has its span, and nobody else looks on.
struct Alone;

impl Log for Alone {
    fn begins(&mut self, at: &Position, node: &str) -> tracing::Span {
        StepSpan::begin(at, node).span().clone()
    }

    fn takes(&mut self, _: &Position, _: usize, _: &str) {}
}

impl<'r, S, A> FlowCall<'r, S, A> {
    pub(super) fn new(run: &'r mut Run<S>, runner: Runner<'r, S, A>) -> Self {
        let (from, watchers) = (Position::default(), Watchers::default());
        FlowCall { run, runner, orders: Orders { max_steps: None, from, watchers, follower: None } }
    }

    /// The same for who may have said nothing.
    pub(super) fn at_most(mut self, steps: Option<u64>) -> Self {
        self.orders.max_steps = steps;
        self
    }

    /// How many steps it may take, those of nested flows included. Default: what the flow says, or 1000. One that would
    /// take more is a [`Category::LimitExceeded`].
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.orders.max_steps = Some(steps);
        self
    }

    /// Starts at this step instead of the first, such as the one where an earlier run of the flow
    /// [ended](NodeError::position). The parameters of flows that this is within are not written again.
    pub fn from(mut self, position: Position) -> Self {
        self.orders.from = position;
        self
    }

    /// Calls this function as each step begins and ends, and as the flow ends, whatever way. Functions that are set
    /// earlier run first.
    ///
    /// It runs on the flow's way, so it should be quick. Its panic is logged under `llmnode::hook`, and of no effect.
    pub fn on_step(mut self, hook: impl FnMut(&FlowEvent<'_>) + Send + 'r) -> Self {
        self.orders.watchers.hooks.push(Box::new(hook));
        self
    }

    /// Lets a watch look on. It knows what the flow did while it runs, and also when it has failed or was dropped.
    pub fn watch(mut self, watch: &FlowWatch) -> Self {
        self.orders.watchers.watches.push(watch.clone());
        self
    }

    /// Asks for what the flow did beside its action. Of a flow that fails, a [`watch`](FlowCall::watch) tells it.
    pub fn report(self) -> FlowReporting<'r, S, A> {
        FlowReporting(self)
    }

    /// Sets who follows the flow from step to step.
    #[cfg(feature = "journal")]
    pub(crate) fn followed_by(mut self, follower: impl Follower<S, A> + 'r) -> Self {
        self.orders.follower = Some(Box::new(follower));
        self
    }

    /// Whether it is set who follows the flow.
    #[cfg(feature = "journal")]
    pub(crate) fn is_followed(&self) -> bool {
        self.orders.follower.is_some()
    }

    /// What the flow looks like.
    pub fn outline(&self) -> Outline {
        (self.runner.outline)()
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
        let FlowCall { run, runner, orders } = self;
        Box::pin(async move {
            let (core, state) = run.parts();
            let drive = Drive::begin(core, state, runner, orders);
            let span = drive.span();
            drive.finish().instrument(span).await
        })
    }
}

/// A [`FlowCall`] that gives its record too.
#[must_use = "a flow does nothing until it is awaited"]
pub struct FlowReporting<'r, S, A>(FlowCall<'r, S, A>);

/// What a flow decided, and what it did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FlowReport<A> {
    /// The flow's action.
    pub action: A,
    /// The path that it took, and what each step took.
    pub record: FlowRecord,
}

impl<'r, S, A> IntoFuture for FlowReporting<'r, S, A>
where
    S: Send + Sync,
    A: Send + 'static,
{
    type Output = Result<FlowReport<A>, NodeError>;
    type IntoFuture = BoxFuture<'r, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let watch = FlowWatch::default();
        let call = self.0.watch(&watch).into_future();
        Box::pin(async move {
            let action = call.await?;
            let record = watch.record();
            // It has been watched from its begin.
            let lost = || NodeError::new(Category::ConfigError, "the flow left no record");
            record.map(|record| FlowReport { action, record }).ok_or_else(lost)
        })
    }
}

impl<S, A> fmt::Debug for FlowCall<'_, S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowCall")
            .field("flow", &self.runner.name)
            .field("from", &self.orders.from)
            .finish_non_exhaustive()
    }
}

impl<S, A> fmt::Debug for FlowReporting<'_, S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FlowReporting").field(&self.0).finish()
    }
}
