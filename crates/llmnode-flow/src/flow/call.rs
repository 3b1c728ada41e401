//! The future of a flow, and its settings.

use std::borrow::Cow;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use llmnode_runtime::ext::{IntoPaused, Position, RunRecorder};
use llmnode_runtime::internal::{Caller, FlowContext, RunInternals as _, UsageSum};
use llmnode_runtime::{BoxFuture, Category, Event, NodeError, Run};
use tracing::Instrument;

use super::cursor::{FlowCursor, Progress};
use super::drive::{FlowDriver, OutlineFn, RunOptions, Runner};
use super::event::FlowEvent;
use super::log::StepLog;
use super::outline::Outline;
use super::record::FlowRecord;
#[cfg(feature = "journal")]
use super::replay::Replayer;
use super::runnable::Runnable;
use super::spans::StepSpan;
use super::step::Step;
use super::watch::FlowWatch;

/// One run of a flow. It starts when it is first polled.
///
/// It is a future, so `select!` and `timeout` take it. Settings written after the
/// first poll have no effect. Dropping it ends the flow between two steps: a
/// running step writes nothing.
#[must_use = "a flow does nothing until it is awaited"]
pub struct FlowCall<'r, S, A> {
    name: Cow<'static, str>,
    outline: Arc<OutlineFn<'r>>,
    options: RunOptions<'r, S, A>,
    /// Taken at the first poll.
    start: Option<(&'r mut Run<S>, Runner<'r, S, A>)>,
    under_way: Option<BoxFuture<'r, Result<A, NodeError>>>,
}

pub(super) async fn step<S, N>(run: &mut Run<S>) -> Result<N::Action, NodeError>
where
    N: Step<S> + Send + 'static,
    S: Send + Sync,
{
    let mut at = Position::default();
    let usage_sum = UsageSum::default();
    let mut log = SpanOnly(StepSpan::none());
    let (core, state) = run.parts();
    let at = &mut at;
    let log = &mut log;
    let happened = &mut None;
    let of_flow = FlowContext {
        usage_sum: &usage_sum,
        observer: None,
        number: 0,
    };
    let within = Caller::default().of_flow(&of_flow);
    let cursor = FlowCursor {
        core,
        state,
        at,
        depth: 0,
        within,
        log,
        happened,
    };
    match <N as Runnable<S>>::advance(cursor, None).await? {
        Progress::Done(action) => Ok(action),
        Progress::Continue => Err(NodeError::new(
            Category::ConfigError,
            "a node went on after its end",
        )),
    }
}

/// Outside of a flow, a step has a span, but no hooks and no watch.
struct SpanOnly(StepSpan);

impl StepLog for SpanOnly {
    fn begin_step(&mut self, at: &Position, node: &str) -> tracing::Span {
        self.0 = StepSpan::begin(at, node);
        self.0.span().clone()
    }

    fn step_span(&self) -> &tracing::Span {
        self.0.span()
    }

    fn edge_taken(&mut self, _: &Position, _: usize, _: &str) {}
}

impl<'r, S, A> FlowCall<'r, S, A> {
    pub(super) fn new(run: &'r mut Run<S>, runner: Runner<'r, S, A>) -> Self {
        let name = runner.name.clone();
        let outline = Arc::clone(&runner.outline);
        FlowCall {
            name,
            outline,
            options: RunOptions::default(),
            start: Some((run, runner)),
            under_way: None,
        }
    }

    pub(super) fn at_most(mut self, steps: Option<u64>) -> Self {
        self.options.max_steps = steps;
        self
    }

    /// Sets how many steps it may take, including those of nested flows. Default:
    /// the flow's own number, or 1000. One more step is a
    /// [`Category::LimitExceeded`].
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.options.max_steps = Some(steps);
        self
    }

    /// Starts at this step, such as the one where an earlier run of the flow
    /// [ended](NodeError::position). The parameters of flows around it are not
    /// written again.
    pub fn from(mut self, position: Position) -> Self {
        self.options.from = position;
        self
    }

    /// Continues a conversation that [paused](llmnode_runtime::Paused) in a step of
    /// the flow, at that step, once everything that waited is decided. No request
    /// and no tool is repeated. The state must be as it was before the step; a flow
    /// that pauses leaves it like this.
    pub fn approve(mut self, paused: impl IntoPaused) -> Self {
        self.options.paused = Some(paused.into_paused());
        self
    }

    /// Lets [`approve`](FlowCall::approve) run an approved call of a tool whose
    /// description or parameters are not those that were shown. Default: that is a
    /// `config_error`, and nothing runs.
    pub fn allow_changed_tool(mut self) -> Self {
        self.options.allow_changed_tool = true;
        self
    }

    /// Calls this function when a step begins or ends, and when the flow ends in
    /// any way. Functions that were set earlier run first.
    ///
    /// A step may [run a flow within itself](super::CxExt::flow), as a fork of a
    /// JSON graph does. The function is called for its steps, too. Their positions
    /// begin with that of the outer step, whose record includes what they used.
    ///
    /// It runs within the flow, so it should be quick. A panic in it is logged
    /// under `llmnode::hook` and changes nothing.
    pub fn on_step(mut self, hook: impl FnMut(&FlowEvent<'_>) + Send + 'r) -> Self {
        self.options.watchers.hooks.push(Box::new(hook));
        self
    }

    /// Calls this function for each [`Event`] of an answer, with the position of
    /// the step. Models are asked to stream then: see
    /// [`Call::stream`](llmnode_runtime::Call::stream).
    ///
    /// The position of a call within a step ends with the names of the calls that
    /// lead to it: `Both/weather` and `Both/news` for a step `Both` with two nodes
    /// side by side, `All/summarize[2]` for the third item of a
    /// [`Batch`](super::Batch). If a node streams an answer itself, that answer has no events here.
    ///
    /// It runs within the flow, so it should be quick. A panic in it is logged
    /// under `llmnode::hook` and changes nothing.
    pub fn on_event(mut self, listener: impl FnMut(&Position, &Event) + Send + 'r) -> Self {
        self.options.watchers.listeners.push(Box::new(listener));
        self
    }

    /// Lets a watch follow the flow, while it runs, and after it failed or was dropped.
    pub fn watch(mut self, watch: &FlowWatch) -> Self {
        self.options.watchers.watches.push(watch.clone());
        self
    }

    /// Records the flow, and all calls within it: `Recording` of the feature `page`
    /// shows it as a page.
    pub fn record(self, recording: &'r dyn RunRecorder) -> Self {
        self.recorded_by(Some(recording))
    }

    pub(super) fn recorded_by(mut self, recorder: Option<&'r dyn RunRecorder>) -> Self {
        self.options.within = self.options.within.recorded_by(recorder);
        self
    }

    /// Returns the record of the flow beside its action. If the flow fails, a
    /// [`watch`](FlowCall::watch) has it.
    pub fn report(
        self,
    ) -> impl Future<Output = Result<FlowReport<A>, NodeError>> + Send + Unpin + use<'r, S, A>
    where
        S: Send + Sync,
        A: Send + 'static,
    {
        let watch = FlowWatch::default();
        let mut call = self.watch(&watch);
        poll_fn(move |cx| {
            let action = ready!(Pin::new(&mut call).poll(cx))?;
            // The watch was set before the first poll, so there is a record.
            let record = watch
                .record()
                .ok_or_else(|| NodeError::new(Category::ConfigError, "the flow left no record"))?;
            Poll::Ready(Ok(FlowReport { action, record }))
        })
    }

    #[cfg(feature = "journal")]
    pub(crate) fn follow(&mut self, replayer: impl Replayer<S, A> + 'r) {
        self.options.replayer = Some(Box::new(replayer));
    }

    #[cfg(feature = "journal")]
    pub(crate) fn has_replayer(&self) -> bool {
        self.options.replayer.is_some()
    }

    /// Returns the outline of the flow.
    pub fn outline(&self) -> Outline {
        (self.outline)()
    }
}

impl<S, A> Future for FlowCall<'_, S, A>
where
    S: Send + Sync,
    A: Send + 'static,
{
    type Output = Result<A, NodeError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some((run, runner)) = self.start.take() {
            let (core, state) = run.parts();
            let options = std::mem::take(&mut self.options);
            self.under_way = Some(Box::pin(async move {
                let drive = FlowDriver::begin(core, state, runner, options)?;
                let span = drive.span();
                drive.finish().instrument(span).await
            }));
        }
        match &mut self.under_way {
            Some(flow) => flow.as_mut().poll(cx),
            // Not reached: `start` is taken on the first poll; until then `under_way` is `None`.
            None => Poll::Pending,
        }
    }
}

/// The action of a flow, and its record.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FlowReport<A> {
    /// The flow's action.
    pub action: A,
    /// The path, with the figures of each step.
    pub record: FlowRecord,
}

impl<S, A> fmt::Debug for FlowCall<'_, S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowCall")
            .field("flow", &self.name)
            .field("from", &self.options.from)
            .field("under_way", &self.under_way.is_some())
            .finish_non_exhaustive()
    }
}
