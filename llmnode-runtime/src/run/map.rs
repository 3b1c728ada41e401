//! Many calls side by side, with a bound.

use std::borrow::Cow;
use std::future::IntoFuture;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::bounded::{Bounded, CONCURRENCY};
use super::call::{Call, Within};
use super::node::Exec;
use super::progress::{BatchProgress, Counter, OnProgress, known};
use super::results::{InOrder, Results};
use super::run::RunCore;
use crate::BoxFuture;
use crate::error::NodeError;
use crate::settings::{Settings, setters};
use crate::text::debug_shows;

type Outcome<'r, T> = BoxFuture<'r, Result<T, NodeError>>;
type Calls<'r, T> = Box<dyn FnMut(&mut Context<'_>, &Settings) -> Poll<Option<Outcome<'r, T>>> + Send + 'r>;

/// Calls of many nodes that start when the map is awaited: of so many at a time, each in a place that another one left.
/// The nodes are asked for one by one, as places become free.
///
/// | | |
/// |---|---|
/// | `.await` | all results in the order of the nodes; one failure does not disturb the others |
/// | [`try_all`](Map::try_all) | all outputs, or the first error |
/// | [`stream`](Map::stream) | one result after the other in that order, in constant memory |
/// | [`as_completed`](Map::as_completed) | one result after the other as they come, in constant memory |
///
/// Where the iterator or stream panics, the next result is a `panic` error, and it is not asked for further nodes. Dropped,
/// a map cancels all calls under way.
#[must_use = "a map does nothing until it is awaited"]
pub struct Map<'r, T> {
    core: &'r RunCore,
    calls: Calls<'r, T>,
    total: Option<usize>,
    concurrency: usize,
    settings: Settings,
    on_progress: Option<OnProgress<'r>>,
}

impl<'r, T: Send + 'r> Map<'r, T> {
    pub(super) fn new<S, N>(
        core: &'r RunCore,
        within: Within<'r>,
        state: &'r S,
        mut nodes: impl Iterator<Item = N> + Send + 'r,
    ) -> Self
    where
        S: ?Sized,
        N: Exec<S, Output = T> + Send + 'r,
    {
        let total = known(|| nodes.size_hint());
        let calls = Box::new(move |_: &mut Context<'_>, settings: &Settings| {
            Poll::Ready(nodes.next().map(|node| call(core, within, state, node, settings)))
        });
        Map { core, calls, total, concurrency: CONCURRENCY, settings: Settings::new(), on_progress: None }
    }

    pub(super) fn of_stream<S, N>(
        core: &'r RunCore,
        within: Within<'r>,
        state: &'r S,
        nodes: impl Stream<Item = N> + Send + 'r,
    ) -> Self
    where
        S: ?Sized,
        N: Exec<S, Output = T> + Send + 'r,
    {
        let total = known(|| nodes.size_hint());
        let mut nodes = Box::pin(nodes);
        let calls = Box::new(move |cx: &mut Context<'_>, settings: &Settings| {
            nodes.as_mut().poll_next(cx).map(|node| Some(call(core, within, state, node?, settings)))
        });
        Map { core, calls, total, concurrency: CONCURRENCY, settings: Settings::new(), on_progress: None }
    }

    /// How many calls are under way at most. Default 8; 0 counts as 1.
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = calls.max(1);
        self
    }

    setters! {
        /// Sets the model that every call asks: a name registered on the run, or else the provider's id.
        model: impl Into<Cow<'static, str>>,
        /// Sets the sampling temperature of every call, 0 or more.
        temperature: f64,
        /// Sets the most tokens an answer may have, 1 or more.
        max_tokens: u32,
        /// Sets how many more requests of each call follow bad answers.
        retries: u32,
        /// Sets how many more tries of each call follow failures of the transport.
        transport_retries: u32,
    }

    fn given(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// Sets all settings of every call at once, instead of those set so far.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Calls this function as each call ends, in the order in which they do: for a progress bar. It should be quick. Its
    /// panic is logged under `llmnode::hook`, and of no effect.
    pub fn on_progress(mut self, tell: impl FnMut(&BatchProgress) + Send + 'r) -> Self {
        self.on_progress = Some(Box::new(tell));
        self
    }

    /// All outputs, or the first error, with which [`NodeError::item`] says where it happened. The calls under way
    /// are cancelled then, and no further one begins.
    ///
    /// # Errors
    /// That of the call that failed first, in time.
    pub async fn try_all(self) -> Result<Vec<T>, NodeError> {
        self.bounded().try_all().await
    }

    /// One result after the other, in the order of the nodes. Memory does not grow with their number: a result that waits
    /// for one before it keeps its place.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// # use llmnode::{BoxError, Cx, Exec, Node, NodeError, Run, ScriptedModel};
    /// # struct Double(u64);
    /// # impl Node for Double { type Output = u64; const NAME: &'static str = "double"; }
    /// # impl<S: ?Sized + Sync> Exec<S> for Double {
    /// #     async fn exec(&self, _: &Cx<'_, S>) -> Result<u64, BoxError> { Ok(self.0 * 2) }
    /// # }
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    /// # runtime.block_on(async {
    /// let run = Run::new(ScriptedModel::new());
    /// let mut doubled = run.map((0..1_000).map(Double)).concurrency(16).stream();
    /// let mut sum = 0;
    /// while let Some(result) = doubled.next().await {
    ///     sum += result?;
    /// }
    /// assert_eq!(sum, 999_000);
    /// # Ok::<(), NodeError>(()) }).unwrap();
    /// ```
    pub fn stream(self) -> Results<'r, Result<T, NodeError>> {
        let mut results = InOrder::new(self.bounded());
        Results::new(move |cx| results.poll(cx))
    }

    /// One result after the other as the calls end, each with the index of its node. Memory does not grow with the number
    /// of nodes.
    pub fn as_completed(self) -> Results<'r, (usize, Result<T, NodeError>)> {
        let mut bounded = self.bounded();
        Results::new(move |cx| bounded.poll_next(cx, 0))
    }

    fn bounded(self) -> Bounded<'r, Result<T, NodeError>> {
        let Map { core, mut calls, total, concurrency, settings, on_progress } = self;
        let counter = Counter::new(on_progress, total, &*core.clock);
        Bounded::new(Box::new(move |cx| calls(cx, &settings)), concurrency, counter)
    }
}

/// One call, with the node that it is of.
fn call<'r, S, N>(
    core: &'r RunCore,
    within: Within<'r>,
    state: &'r S,
    node: N,
    settings: &Settings,
) -> Outcome<'r, N::Output>
where
    S: ?Sized,
    N: Exec<S> + Send + 'r,
{
    let settings = settings.clone();
    Box::pin(async move { Call::new(core, within, state, &node).settings(settings).await })
}

impl<'r, T: Send + 'r> IntoFuture for Map<'r, T> {
    type Output = Vec<Result<T, NodeError>>;
    type IntoFuture = BoxFuture<'r, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.bounded().all())
    }
}

debug_shows!([T] Map<'_, T>: total, concurrency);
