//! Many runs of flows: one after the other on one state, or side by side, each on a state of its own.

use std::fmt;
use std::future::IntoFuture;
use std::task::{Context, Poll};

use super::call::FlowCall;
use super::drive::{RunFlow, Runner};
use crate::BoxFuture;
use crate::error::NodeError;
use crate::run::{BatchProgress, Bounded, CONCURRENCY, Counter, Ended, OnProgress, Run, known};

/// Runs of flows on one state, one after the other, that start when this is awaited: it gives their actions, or the first
/// error, after which no further flow begins. [`NodeError::item`] says which flow it was.
#[must_use = "flows do nothing until they are awaited"]
pub struct Flows<'r, S, A> {
    run: &'r mut Run<S>,
    flows: Box<dyn Iterator<Item = Runner<'r, S, A>> + Send + 'r>,
    max_steps: Option<u64>,
    on_progress: Option<OnProgress<'r>>,
}

impl<S> Run<S> {
    /// Runs flows one after the other on the state, as they come: mostly one flow with other parameters each time. A flow
    /// is asked for when the one before it has ended.
    ///
    /// ```text
    /// run.flows(files.into_iter().map(|file| Translate { file })).await?;
    /// ```
    pub fn flows<'r, F>(
        &'r mut self,
        flows: impl IntoIterator<Item = F, IntoIter: Send + 'r>,
    ) -> Flows<'r, S, F::Action>
    where
        F: RunFlow<'r, S> + 'r,
        S: 'r,
    {
        let flows = Box::new(flows.into_iter().map(F::runner));
        Flows { run: self, flows, max_steps: None, on_progress: None }
    }

    /// Runs flows side by side, each on a state of its own: `split` makes both from an item and the state of this run.
    /// Eight are under way at a time, if [`concurrency`](Fork::concurrency) says nothing else; an item is asked for when
    /// there is room for its flow. Model, limits and ledger are those of this run.
    ///
    /// ```text
    /// run.fork(languages, |book, language| (Page { text: book.text.clone(), .. }, Translate { language }))
    ///     .join(|book, page, ()| book.pages.push(page))
    ///     .await?;
    /// ```
    pub fn fork<'r, I, P, F>(
        &'r mut self,
        items: impl IntoIterator<Item = I, IntoIter: Send + 'r>,
        mut split: impl FnMut(&S, I) -> (P, F) + Send + 'r,
    ) -> Fork<'r, S, P, F::Action>
    where
        F: RunFlow<'r, P>,
    {
        let mut items = items.into_iter();
        let total = known(items.size_hint());
        let parts = Box::new(move |state: &S| {
            items.next().map(|item| {
                let (part, flow) = split(state, item);
                (part, flow.runner())
            })
        });
        let how = How { total, concurrency: CONCURRENCY, max_steps: None, on_progress: None };
        Fork { run: self, parts, how }
    }
}

impl<'r, S, A> Flows<'r, S, A>
where
    S: Send + Sync,
    A: Send + 'static,
{
    /// How many steps each flow may take. Default: what the flow says, or 1000.
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.max_steps = Some(steps);
        self
    }

    /// Calls this function as each flow ends: for a progress bar. It should be quick. Its panic is logged under
    /// `llmnode::hook`, and of no effect.
    pub fn on_progress(mut self, tell: impl FnMut(&BatchProgress) + Send + 'r) -> Self {
        self.on_progress = Some(Box::new(tell));
        self
    }

    /// Goes on after an error, and gives what each flow came to. What a flow that failed did to the state stays.
    pub async fn all(self) -> Vec<Result<A, NodeError>> {
        let mut outcomes = Vec::new();
        self.each(|outcome| {
            outcomes.push(outcome);
            true
        })
        .await;
        outcomes
    }

    /// Runs one after the other, as long as what they came to is taken with `true`.
    async fn each(self, mut take: impl FnMut(Result<A, NodeError>) -> bool + Send) {
        let Flows { run, flows, max_steps, on_progress } = self;
        let clock = run.shared_clock();
        let mut counter = Counter::new(on_progress, known(flows.size_hint()), &*clock);
        counter.begin();
        for (index, runner) in flows.enumerate() {
            let outcome = FlowCall::new(&mut *run, runner).at_most(max_steps).await;
            counter.ended(outcome.is_err());
            if !take(outcome.map_err(|error| error.of_item(index))) {
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
            let (mut actions, mut failed) = (Vec::new(), None);
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

/// Runs of flows side by side, each on a state of its own, that start when this is awaited.
///
/// | | |
/// |---|---|
/// | `.await` | the states and actions in the order of the items, or the first error |
/// | [`join`](Fork::join) | writes them back in that order, after the last flow has ended; nothing, if one failed |
/// | [`all`](Fork::all) | what each flow came to, and its state, also of those that failed |
///
/// The first error cancels the flows under way; [`NodeError::item`] says which one it was.
#[must_use = "flows do nothing until they are awaited"]
pub struct Fork<'r, S, P, A> {
    run: &'r mut Run<S>,
    parts: Parts<'r, S, P, A>,
    how: How<'r>,
}

struct How<'r> {
    total: Option<usize>,
    concurrency: usize,
    max_steps: Option<u64>,
    on_progress: Option<OnProgress<'r>>,
}

/// The next state with its flow, as the state of the run has it.
type Parts<'r, S, P, A> = Box<dyn FnMut(&S) -> Option<(P, Runner<'r, P, A>)> + Send + 'r>;

/// What one of several flows side by side came to, and the state that it had for itself.
#[derive(Debug)]
#[non_exhaustive]
pub struct Forked<P, A> {
    /// The state as the flow left it.
    pub state: P,
    /// The flow's action, or the error that ended it.
    pub outcome: Result<A, NodeError>,
}

impl<P, A> Ended for Forked<P, A> {
    type Output = (P, A);

    fn has_failed(&self) -> bool {
        self.outcome.is_err()
    }

    fn of_item(self, index: usize) -> Self {
        Forked { outcome: self.outcome.map_err(|error| error.of_item(index)), ..self }
    }

    fn into_result(self) -> Result<(P, A), NodeError> {
        Ok((self.state, self.outcome?))
    }
}

impl<'r, S, P, A> Fork<'r, S, P, A>
where
    S: Send + Sync,
    P: Send + Sync + 'r,
    A: Send + 'static,
{
    /// How many flows are under way at most. Default 8; 0 counts as 1.
    pub fn concurrency(mut self, flows: usize) -> Self {
        self.how.concurrency = flows;
        self
    }

    /// How many steps each flow may take. Default: what the flow says, or 1000.
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.how.max_steps = Some(steps);
        self
    }

    /// Calls this function as each flow ends, in the order in which they do: for a progress bar. It should be quick. Its
    /// panic is logged under `llmnode::hook`, and of no effect.
    pub fn on_progress(mut self, tell: impl FnMut(&BatchProgress) + Send + 'r) -> Self {
        self.how.on_progress = Some(Box::new(tell));
        self
    }

    /// Goes on after an error, and gives what each flow came to, in the order of the items.
    pub async fn all(self) -> Vec<Forked<P, A>> {
        side_by_side(self.run, self.parts, self.how).all().await
    }

    /// Writes state and action of each flow back into the state of the run, in the order of the items, once all have
    /// ended well.
    ///
    /// # Errors
    /// That of the flow that failed first; nothing is written then.
    pub async fn join(self, mut join: impl FnMut(&mut S, P, A) + Send) -> Result<(), NodeError> {
        let Fork { run, parts, how } = self;
        let parts = side_by_side(run, parts, how).try_all().await?;
        parts.into_iter().for_each(|(part, action)| join(run.state_mut(), part, action));
        Ok(())
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
        Box::pin(async move { side_by_side(self.run, self.parts, self.how).try_all().await })
    }
}

fn side_by_side<'x, 'r: 'x, S, P, A>(
    run: &'x Run<S>,
    mut parts: Parts<'r, S, P, A>,
    how: How<'r>,
) -> Bounded<'x, Forked<P, A>>
where
    S: Sync,
    P: Send + Sync + 'r,
    A: Send + 'static,
{
    let How { total, concurrency, max_steps, on_progress } = how;
    let counter = Counter::new(on_progress, total, run.clock());
    let flow = move |(part, runner): (P, Runner<'r, P, A>)| -> BoxFuture<'x, Forked<P, A>> {
        let mut run = run.with_state(part);
        Box::pin(async move {
            let outcome = FlowCall::new(&mut run, runner).at_most(max_steps).await;
            Forked { state: run.into_state(), outcome }
        })
    };
    let source = move |_: &mut Context<'_>| Poll::Ready(parts(run.state()).map(&flow));
    Bounded::new(Box::new(source), concurrency, counter)
}

impl<S, A> fmt::Debug for Flows<'_, S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flows").field("total", &known(self.flows.size_hint())).finish_non_exhaustive()
    }
}

impl<S, P, A> fmt::Debug for Fork<'_, S, P, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fork")
            .field("total", &self.how.total)
            .field("concurrency", &self.how.concurrency)
            .finish_non_exhaustive()
    }
}
