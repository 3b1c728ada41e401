//! Many runs of flows: one after the other on one state, or side by side, each on a
//! state of its own.

use std::fmt;
use std::future::{IntoFuture, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use llmnode_model::internal::catch_panic;
use llmnode_runtime::ext::RunRecorder;
use llmnode_runtime::internal::{
    BoundedFutures, CONCURRENCY, ErrorInternals as _, ItemOutcome, OnProgress, ProgressCounter,
    RunInternals as _,
};
use llmnode_runtime::{BatchProgress, BoxFuture, Category, NodeError, Run};

use super::call::FlowCall;
use super::cursor::panicked;
use super::drive::{RunFlow, Runner};

/// Runs of flows on one state, one after the other. They start when this is
/// awaited. It returns their actions, or the first error, after which no further
/// flow begins. [`NodeError::item`] says which flow failed. A panic of the iterator
/// is such an error.
#[must_use = "flows do nothing until they are awaited"]
pub struct Flows<'r, S, A> {
    run: &'r mut Run<S>,
    flows: Box<dyn Iterator<Item = Runner<'r, S, A>> + Send + 'r>,
    max_steps: Option<u64>,
    on_progress: Option<OnProgress<'r>>,
    recorder: Option<&'r dyn RunRecorder>,
}

impl<'r, S, A> Flows<'r, S, A> {
    pub(super) fn new<F>(run: &'r mut Run<S>, flows: impl Iterator<Item = F> + Send + 'r) -> Self
    where
        F: RunFlow<'r, S, Action = A> + 'r,
        S: 'r,
    {
        let flows = Box::new(flows.map(F::runner));
        Flows {
            run,
            flows,
            max_steps: None,
            on_progress: None,
            recorder: None,
        }
    }
}

impl<'r, S, P, A> Fork<'r, S, P, A> {
    pub(super) fn new<I, F>(
        run: &'r mut Run<S>,
        mut items: impl Iterator<Item = I> + Send + 'r,
        mut split: impl FnMut(&S, I) -> (P, F) + Send + 'r,
    ) -> Self
    where
        F: RunFlow<'r, P, Action = A>,
    {
        let total = ProgressCounter::exact_size(|| items.size_hint());
        let parts = Box::new(move |state: &S| {
            let item = items.next()?;
            let split = catch_panic(|| {
                let (part, flow) = split(state, item);
                (part, flow.runner())
            });
            Some(split.map_err(|message| panicked("the function that splits the state", message)))
        });
        let options = ForkOptions {
            total,
            concurrency: CONCURRENCY,
            max_steps: None,
            on_progress: None,
            recorder: None,
        };
        Fork {
            run,
            parts,
            options,
        }
    }
}

impl<'r, S, A> Flows<'r, S, A>
where
    S: Send + Sync,
    A: Send + 'static,
{
    /// Sets how many steps each flow may take. Default: the flow's own number, or 1000.
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.max_steps = Some(steps);
        self
    }

    /// Calls this function as each flow ends, for a progress bar. It should be
    /// quick. A panic in it is logged under `llmnode::hook` and changes nothing.
    pub fn on_progress(mut self, callback: impl FnMut(&BatchProgress) + Send + 'r) -> Self {
        self.on_progress = Some(Box::new(callback));
        self
    }

    /// Records the flows, and all calls within them: `Recording` of the feature
    /// `page` shows them as a page.
    pub fn record(mut self, recording: &'r dyn RunRecorder) -> Self {
        self.recorder = Some(recording);
        self
    }

    /// Continues after an error, and returns the result of each flow. What a failed
    /// flow did to the state stays.
    pub async fn all(self) -> Vec<Result<A, NodeError>> {
        let mut outcomes = Vec::new();
        self.each(|outcome| {
            outcomes.push(outcome);
            true
        })
        .await;
        outcomes
    }

    async fn each(self, mut take: impl FnMut(Result<A, NodeError>) -> bool + Send) {
        let Flows {
            run,
            mut flows,
            max_steps,
            on_progress,
            recorder,
        } = self;
        let clock = Arc::clone(&run.core().clock);
        let mut counter = ProgressCounter::new(
            on_progress,
            ProgressCounter::exact_size(|| flows.size_hint()),
            &*clock,
        );
        counter.begin();
        for index in 0.. {
            let (outcome, further) = match catch_panic(|| flows.next()) {
                Ok(None) => return,
                Ok(Some(runner)) => {
                    let flow = FlowCall::new(&mut *run, runner).at_most(max_steps);
                    (flow.recorded_by(recorder).await, true)
                }
                Err(message) => (Err(NodeError::items_panicked(&message)), false),
            };
            counter.ended(outcome.is_err());
            if !take(outcome.map_err(|error| error.of_item(index))) || !further {
                return;
            }
        }
    }
}

impl<'r, S, A> IntoFuture for Flows<'r, S, A>
where
    S: Send + Sync,
    A: Send + 'static,
{
    type Output = Result<Vec<A>, NodeError>;
    type IntoFuture = BoxFuture<'r, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let mut actions = Vec::new();
            let mut failed = None;
            self.each(|outcome| match outcome {
                Ok(action) => {
                    actions.push(action);
                    true
                }
                Err(error) => {
                    failed = Some(error);
                    false
                }
            })
            .await;
            failed.map_or(Ok(actions), Err)
        })
    }
}

/// Concurrent runs of flows, each on a state of its own. They start when this is awaited.
///
/// | | |
/// |---|---|
/// | `.await` | the states and actions in the order of the items, or the first error |
/// | [`join`](Fork::join) | writes them back in that order after the last flow has ended, unless one failed |
/// | [`all`](Fork::all) | the result and the state of each flow, including those that failed |
///
/// The first error cancels the other flows, and [`NodeError::item`] says which one
/// failed. A panic of the function that splits the state is the error of its item.
/// A panic of the iterator is the error of the next item, and ends the items.
#[must_use = "flows do nothing until they are awaited"]
pub struct Fork<'r, S, P, A> {
    run: &'r mut Run<S>,
    parts: Parts<'r, S, P, A>,
    options: ForkOptions<'r>,
}

struct ForkOptions<'r> {
    total: Option<usize>,
    concurrency: usize,
    max_steps: Option<u64>,
    on_progress: Option<OnProgress<'r>>,
    recorder: Option<&'r dyn RunRecorder>,
}

type Parts<'r, S, P, A> =
    Box<dyn FnMut(&S) -> Option<Result<(P, Runner<'r, P, A>), NodeError>> + Send + 'r>;

struct ForkOutcome<P, A> {
    /// `None`: the state could not be split, so that no flow began.
    state: Option<P>,
    outcome: Result<A, NodeError>,
}

impl<P, A> ItemOutcome for ForkOutcome<P, A> {
    type Output = (P, A);

    fn failed(error: NodeError) -> Self {
        ForkOutcome {
            state: None,
            outcome: Err(error),
        }
    }

    fn has_failed(&self) -> bool {
        self.outcome.is_err()
    }

    fn of_item(self, index: usize) -> Self {
        ForkOutcome {
            outcome: self.outcome.map_err(|error| error.of_item(index)),
            ..self
        }
    }

    fn into_result(self) -> Result<(P, A), NodeError> {
        let action = self.outcome?;
        // A flow with an action had a state.
        let state = self
            .state
            .ok_or_else(|| NodeError::new(Category::ConfigError, "the flow left no state"))?;
        Ok((state, action))
    }
}

impl<'r, S, P, A> Fork<'r, S, P, A>
where
    S: Send + Sync,
    P: Send + Sync + 'r,
    A: Send + 'static,
{
    /// Sets how many flows run at once. Default 8; 0 counts as 1.
    pub fn concurrency(mut self, flows: usize) -> Self {
        self.options.concurrency = flows;
        self
    }

    /// Sets how many steps each flow may take. Default: the flow's own number, or 1000.
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.options.max_steps = Some(steps);
        self
    }

    /// Calls this function as each flow ends, for a progress bar. It should be
    /// quick. A panic in it is logged under `llmnode::hook` and changes nothing.
    pub fn on_progress(mut self, callback: impl FnMut(&BatchProgress) + Send + 'r) -> Self {
        self.options.on_progress = Some(Box::new(callback));
        self
    }

    /// Records the flows, and all calls within them: `Recording` of the feature
    /// `page` shows them as a page.
    pub fn record(mut self, recording: &'r dyn RunRecorder) -> Self {
        self.options.recorder = Some(recording);
        self
    }

    /// Continues after an error. Returns for each item, in order, the state as its
    /// flow left it, and the flow's action or error. There is no state if the
    /// function that splits it panicked.
    pub async fn all(self) -> Vec<(Option<P>, Result<A, NodeError>)> {
        let all = side_by_side(self.run, self.parts, self.options).all().await;
        all.into_iter()
            .map(|ForkOutcome { state, outcome }| (state, outcome))
            .collect()
    }

    /// Writes the state and the action of each flow back into the state of the run,
    /// in the order of the items, after all have succeeded.
    ///
    /// # Errors
    /// The error of the flow that failed first; nothing is written then. A panic of
    /// `join` is the error of its item; what was written before it stays.
    pub async fn join(self, mut join: impl FnMut(&mut S, P, A) + Send) -> Result<(), NodeError> {
        let Fork {
            run,
            parts,
            options,
        } = self;
        let parts = side_by_side(run, parts, options).try_all().await?;
        parts
            .into_iter()
            .enumerate()
            .try_for_each(|(index, (part, action))| {
                let joined = catch_panic(|| join(run.state_mut(), part, action));
                joined.map_err(|message| {
                    panicked("the function that joins the states", message).of_item(index)
                })
            })
    }
}

impl<'r, S, P, A> IntoFuture for Fork<'r, S, P, A>
where
    S: Send + Sync,
    P: Send + Sync + 'r,
    A: Send + 'static,
{
    type Output = Result<Vec<(P, A)>, NodeError>;
    type IntoFuture = BoxFuture<'r, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            side_by_side(self.run, self.parts, self.options)
                .try_all()
                .await
        })
    }
}

fn side_by_side<'x, 'r: 'x, S, P, A>(
    run: &'x Run<S>,
    mut parts: Parts<'r, S, P, A>,
    options: ForkOptions<'r>,
) -> BoundedFutures<'x, ForkOutcome<P, A>>
where
    S: Sync,
    P: Send + Sync + 'r,
    A: Send + 'static,
{
    let ForkOptions {
        total,
        concurrency,
        max_steps,
        on_progress,
        recorder,
    } = options;
    let counter = ProgressCounter::new(on_progress, total, &*run.core().clock);
    let flow =
        move |split: Result<(P, Runner<'r, P, A>), NodeError>| -> BoxFuture<'x, ForkOutcome<P, A>> {
            let (part, runner) = match split {
                Ok(parts) => parts,
                Err(error) => return Box::pin(ready(ForkOutcome::failed(error))),
            };
            let mut run = run.with_state(part);
            Box::pin(async move {
                let outcome = FlowCall::new(&mut run, runner)
                    .at_most(max_steps)
                    .recorded_by(recorder)
                    .await;
                ForkOutcome {
                    state: Some(run.into_state()),
                    outcome,
                }
            })
        };
    BoundedFutures::new(
        Box::new(move |_: &mut Context<'_>| Poll::Ready(parts(run.state()).map(&flow))),
        concurrency,
        counter,
    )
}

impl<S, A> fmt::Debug for Flows<'_, S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flows")
            .field(
                "total",
                &ProgressCounter::exact_size(|| self.flows.size_hint()),
            )
            .finish_non_exhaustive()
    }
}

impl<S, P, A> fmt::Debug for Fork<'_, S, P, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fork")
            .field("total", &self.options.total)
            .field("concurrency", &self.options.concurrency)
            .finish_non_exhaustive()
    }
}
