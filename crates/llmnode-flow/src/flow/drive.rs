//! Driving a flow: one step after the other, to its end.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use llmnode_runtime::ext::{Position, RunCore};
use llmnode_runtime::internal::{
    CallLimits, Caller, ErrorInternals as _, FlowContext, Observer, Origin, UsageSum,
};
use llmnode_runtime::{BoxFuture, Category, Limits, NodeError, Paused};

use super::cursor::{FlowCursor, Progress};
use super::log::FlowRecorder;
use super::outline::Outline;
use super::replay::{FlowStart, ReplayedOutput, Replayer, StartPoint};
use super::watchers::Watchers;

const MAX_STEPS: u64 = 1000;

/// What [`RunExt::flow`](super::RunExt::flow) takes: a flow that `flow!` declares,
/// or a reference to one that was built at run time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a flow over `{S}`",
    label = "not a flow of this state",
    note = "`flow! {{ Name(State): .. }}` declares one; the state of the run, \
            `Run::new(model).with_state(state)`, must be the same type",
    note = "a graph from JSON has a state of its own: \
            `registry.run(model).with_state(graph.start(inputs)?)`"
)]
pub trait RunFlow<'r, S> {
    /// What the flow decides in the end.
    type Action: Send + 'static;

    /// How it is run.
    #[doc(hidden)]
    fn runner(self) -> Runner<'r, S, Self::Action>;
}

pub(super) type OutlineFn<'r> = dyn Fn() -> Outline + Send + Sync + 'r;

type Advance<'r, S, A> = dyn for<'f> FnMut(FlowCursor<'f, S>) -> BoxFuture<'f, Result<Progress<A>, NodeError>>
    + Send
    + 'r;

/// How a flow is run.
pub struct Runner<'r, S, A> {
    pub(super) name: Cow<'static, str>,
    pub(super) max_steps: Option<u64>,
    pub(super) outline: Arc<OutlineFn<'r>>,
    pub(super) advance: Box<Advance<'r, S, A>>,
    pub(super) bounds: Bounds,
    pub(super) shown: Option<fn(&S) -> String>,
}

/// What a flow may do at most, whatever the program allows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// How many steps it may take.
    pub max_steps: Option<u64>,
    /// What it may spend.
    pub limits: Limits,
    /// How many requests it may make if no limit of requests is set.
    pub requests: Option<u64>,
}

impl<S, A> Runner<'_, S, A> {
    /// Sets what the flow may do at most, beside what the program sets for it.
    #[must_use]
    pub fn within(self, bounds: Bounds) -> Self {
        Runner { bounds, ..self }
    }

    /// Sets how recordings show the state that a run ends with.
    #[must_use]
    pub fn showing(self, shown: fn(&S) -> String) -> Self {
        Runner {
            shown: Some(shown),
            ..self
        }
    }
}

/// It can be dropped between two steps: position and state always match.
pub(super) struct FlowDriver<'r, S, A> {
    core: &'r RunCore,
    /// Takes the place of the run's core, and records into the journal.
    recording_core: Option<Box<RunCore>>,
    state: &'r mut S,
    runner: Runner<'r, S, A>,
    at: Position,
    max_steps: u64,
    taken: u64,
    usage_sum: UsageSum<'r>,
    within: Caller<'r>,
    limits: Option<CallLimits<'r>>,
    recorder: FlowRecorder<'r>,
    replayer: Option<Box<dyn Replayer<S, A> + 'r>>,
    happened: Option<ReplayedOutput>,
    paused: Option<Paused>,
    allow_changed_tool: bool,
}

pub(super) struct RunOptions<'r, S, A> {
    pub(super) max_steps: Option<u64>,
    pub(super) from: Position,
    pub(super) watchers: Watchers<'r>,
    pub(super) replayer: Option<Box<dyn Replayer<S, A> + 'r>>,
    pub(super) paused: Option<Paused>,
    pub(super) allow_changed_tool: bool,
    pub(super) within: Caller<'r>,
}

impl<S, A> Default for RunOptions<'_, S, A> {
    fn default() -> Self {
        let from = Position::default();
        let watchers = Watchers::default();
        RunOptions {
            max_steps: None,
            from,
            watchers,
            replayer: None,
            paused: None,
            allow_changed_tool: false,
            within: Caller::default(),
        }
    }
}

impl<'r, S: Send + Sync, A: Send> FlowDriver<'r, S, A> {
    pub(super) fn begin(
        core: &'r RunCore,
        state: &'r mut S,
        runner: Runner<'r, S, A>,
        options: RunOptions<'r, S, A>,
    ) -> Result<Self, NodeError> {
        let RunOptions {
            max_steps,
            from,
            watchers,
            replayer,
            paused,
            allow_changed_tool,
            within,
        } = options;
        // With a journal, the position comes from the journal.
        let stands = paused
            .as_ref()
            .filter(|_| replayer.is_none())
            .and_then(Paused::position);
        let at = stands.cloned().unwrap_or(from);
        let max_steps = max_steps.or(runner.max_steps).unwrap_or(MAX_STEPS);
        let max_steps = runner
            .bounds
            .max_steps
            .map_or(max_steps, |most| most.min(max_steps));
        let limits = limits(&runner, &within, core)?;
        let continues = paused.is_some();
        let name = &runner.name;
        let outline = &*runner.outline;
        let clock = &*core.clock;
        let recorder =
            FlowRecorder::begin(name, outline, &at, clock, (watchers, within), continues);
        let usage_sum = UsageSum::with_parent(within.flow().map(|flow| flow.usage_sum));
        let recording_core = None;
        let taken = 0;
        let happened = None;
        Ok(FlowDriver {
            core,
            recording_core,
            state,
            runner,
            at,
            max_steps,
            taken,
            usage_sum,
            within,
            limits,
            recorder,
            replayer,
            happened,
            paused,
            allow_changed_tool,
        })
    }

    pub(super) fn span(&self) -> tracing::Span {
        self.recorder.span().clone()
    }

    pub(super) async fn finish(mut self) -> Result<A, NodeError> {
        let outcome = self.run().await.map_err(|error| error.at(&self.at));
        let ended = outcome.is_ok();
        self.recorder.end(outcome.as_ref().err(), &self.at, &|| {
            self.runner
                .shown
                .filter(|_| ended)
                .map(|shown| shown(self.state))
        });
        outcome
    }

    async fn run(&mut self) -> Result<A, NodeError> {
        if let Some(action) = self.begin_replay().await? {
            return Ok(action);
        }
        self.record_state();
        while self.taken < self.max_steps {
            self.taken += 1;
            // Steps that never wait would starve other tasks.
            tokio::task::consume_budget().await;
            if let Progress::Done(action) = self.step().await? {
                return Ok(action);
            }
        }
        let name = &self.runner.name;
        let max_steps = self.max_steps;
        let message = format!(
            "the flow `{name}` has not ended after {max_steps} steps; `max_steps` sets how many it \
             may take"
        );
        Err(NodeError::new(Category::LimitExceeded, message))
    }

    fn record_state(&self) {
        self.recorder
            .state(&|| self.runner.shown.map(|shown| shown(self.state)));
    }

    /// After exec, only the journal is awaited, and it records a completed step: a
    /// dropped flow leaves no half step.
    async fn step(&mut self) -> Result<Progress<A>, NodeError> {
        let left = self.replayer.is_some().then(|| self.at.clone());
        let paused = self.paused.take();
        let allow = self.allow_changed_tool;
        let origin = paused
            .as_ref()
            .map(|paused| Origin::paused(paused).allowing_changed_tool(allow));
        let observer = self.recorder.observer();
        let observer = observer
            .as_deref()
            .map(|watching| watching as &dyn Observer);
        let number = self.recorder.number();
        let of_flow = FlowContext {
            usage_sum: &self.usage_sum,
            observer,
            number,
        };
        let within = self.within.of_flow(&of_flow).with_origin(origin.as_ref());
        let cursor = FlowCursor {
            core: self.recording_core.as_deref().unwrap_or(self.core),
            state: self.state,
            at: &mut self.at,
            depth: 0,
            within: within.limited(self.limits.as_ref()),
            log: &mut self.recorder,
            happened: &mut self.happened,
        };
        let progress = (self.runner.advance)(cursor).await;
        self.record_state();
        match &progress {
            Ok(Progress::Continue) => self.recorder.step_ended(&self.at, false, &self.usage_sum),
            Ok(Progress::Done(_)) => self.recorder.step_ended(&self.at, true, &self.usage_sum),
            Err(error) => self
                .recorder
                .step_failed(&self.at, error.category(), &self.usage_sum),
        }
        if let (Some(replayer), Some(left)) = (&mut self.replayer, left) {
            follow(&mut **replayer, left, &self.at, self.state, &progress).await?;
        }
        progress
    }

    /// Restores position and state from the journal. `Some`: the recorded run has
    /// ended, with this action.
    async fn begin_replay(&mut self) -> Result<Option<A>, NodeError> {
        let Some(replayer) = &mut self.replayer else {
            return Ok(None);
        };
        let outline = (self.runner.outline)();
        let core = self.core;
        let limits = self.limits.as_ref();
        let flow = FlowStart {
            outline,
            core,
            state: &mut *self.state,
            at: &mut self.at,
            limits,
        };
        match replayer.begin(flow).await? {
            StartPoint::Steps {
                core,
                taken,
                happened,
            } => {
                (self.recording_core, self.taken, self.happened) = (Some(core), taken, happened);
                Ok(None)
            }
            StartPoint::Ended(action) => Ok(Some(action)),
        }
    }
}

fn limits<'r, S, A>(
    runner: &Runner<'_, S, A>,
    within: &Caller<'r>,
    core: &'r RunCore,
) -> Result<Option<CallLimits<'r>>, NodeError> {
    let Bounds {
        limits, requests, ..
    } = runner.bounds;
    if limits == Limits::new() && requests.is_none() {
        return Ok(None);
    }
    let limits = CallLimits::of_flow(
        runner.name.clone(),
        limits,
        requests,
        within.limits(),
        &core.limits,
        &*core.clock,
    )?;
    Ok(Some(limits))
}

fn follow<'f, S, A>(
    replayer: &'f mut dyn Replayer<S, A>,
    left: Position,
    at: &Position,
    state: &S,
    progress: &Result<Progress<A>, NodeError>,
) -> BoxFuture<'f, Result<(), NodeError>> {
    match progress {
        Ok(Progress::Continue) => replayer.step_ended(left, at, state, None),
        Ok(Progress::Done(action)) => replayer.step_ended(left, at, state, Some(action)),
        Err(_) => {
            let kept = replayer.failed();
            Box::pin(async move {
                kept.await;
                Ok(())
            })
        }
    }
}

impl<S, A> Drop for FlowDriver<'_, S, A> {
    fn drop(&mut self) {
        self.recorder.cancel(&self.at, &self.usage_sum);
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
