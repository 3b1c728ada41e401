//! Many calls side by side, with a bound.
//!
//! Nodes come in one at a time, and results go out. The life of an item:
//!
//! 1. It is taken when the map has room for one more call (`map_control.rs`); the
//!    first may have to go alone (`warm_up.rs`).
//! 2. A call asks it (`call`, below). Before each request it passes the gate, where
//!    all requests for the same endpoint, key and model line up (`at_gate.rs`; the
//!    gate itself is `crates/llmnode-model/src/gate`).
//! 3. A 429 closes the gate. The gate alone decides when it goes on: once the wait
//!    that the server asked for is over, one request probes, and if that is
//!    answered, the others follow at a pace. Meanwhile the map takes no node.
//! 4. A call that has used up its tries because of a rate limit or an outage does
//!    not fail its item: the item is put back, and asked by another call once the
//!    gate lets it pass (`map_item.rs`). What has begun a tool continues behind it.
//! 5. The map ends the asking if nobody was answered for `give_up_after`, or if a
//!    failure is one that no retry mends.
//!
//! Who waits is never the map itself but each call, so that its deadline, its
//! fallback and its record stay its own.

use std::borrow::Cow;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use llmnode_model::{BoxFuture, Cache, Category, Reasoning};

use super::batches::{BatchApi, BatchPool};
use super::bounded::{BoundedFutures, CONCURRENCY};
use super::call::{Call, CallReport, CalledBy};
use super::change_check::ChangeCheck;
use super::context::Caller;
use super::core::RunCore;
use super::cx::Cx;
use super::map_control::{GIVE_UP_AFTER, MapControl};
use super::map_item::{FailedCall, MapItem};
use super::node::Exec;
use super::pass::wait_before_call;
use super::progress::{BatchProgress, OnProgress, ProgressCounter};
use super::results::{InOrder, Results};
use super::warm_up::{self, WarmUp};
use crate::error::NodeError;
use crate::ledger::{Recorder, RunRecorder};
use crate::limits::{CallLimits, Deadline, Limits, MapLimits, PriorSpend, is_of_map};
use crate::node::Node;
use crate::pause::Unfinished;
use crate::settings::{Settings, setters};
use crate::text::impl_debug;

/// One item of the map: all its calls, until one of them has an outcome that stays.
type CallFuture<'r, T> = BoxFuture<'r, Result<CallReport<T>, NodeError>>;
/// Takes the next node and makes its future, which has not begun. `None`: there are no more.
type Calls<'r, T> =
    Box<dyn FnMut(&mut Context<'_>, &Shared<'r>) -> Poll<Option<CallFuture<'r, T>>> + Send + 'r>;

/// What the calls of a map have in common.
struct Shared<'r> {
    control: Arc<MapControl>,
    settings: Arc<Settings>,
    limits: Option<MapLimits>,
    core: Option<Arc<RunCore>>,
    recording: Option<&'r dyn RunRecorder>,
}

/// Concurrent calls of many nodes, with a bound. They start when the map is
/// awaited. The next node is taken from the iterator only when there is room for
/// its call.
///
/// | | |
/// |---|---|
/// | `.await` | all results in the order of the nodes; one failure does not disturb the others |
/// | [`try_all`](Map::try_all) | all outputs, or the first error |
/// | [`stream`](Map::stream) | one result after the other in that order, in constant memory |
/// | [`as_completed`](Map::as_completed) | one result after the other as they come, in constant memory |
///
/// To stop a map gracefully, end its iterator (`nodes.take_while(|_|
/// !stop.load(Ordering::Relaxed))`): calls under way end well, and no further call
/// begins. Dropping the map cancels all calls under way. If the iterator panics,
/// the next result is a `panic` error, and no further nodes are taken.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{BoxError, Cx, Exec, Node, NodeError, Run, ScriptedModel};
///
/// struct Double(u64);
/// # impl Node for Double { type Output = u64; const NAME: &'static str = "double"; }
/// # impl<S: ?Sized + Sync> Exec<S> for Double {
/// #     async fn exec(&self, _: &Cx<'_, S>) -> Result<u64, BoxError> { Ok(self.0 * 2) }
/// # }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let run = Run::new(ScriptedModel::new());
/// let nodes = (1..=3).map(Double);
/// assert_eq!(run.map(nodes).concurrency(2).try_all().await?, [2, 4, 6]);
///
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
#[must_use = "a map does nothing until it is awaited"]
pub struct Map<'r, T> {
    core: &'r RunCore,
    calls: Calls<'r, T>,
    total: Option<usize>,
    concurrency: usize,
    settings: Settings,
    limits: Limits,
    on_progress: Option<OnProgress<'r>>,
    recording: Option<&'r dyn RunRecorder>,
    give_up_after: Duration,
    keeps_going: bool,
    allows_changes: bool,
    warm_cache: Option<bool>,
    batch_api: Option<BatchApi>,
}

impl<S: ?Sized> Cx<'_, S> {
    /// Calls many nodes on the same run and state, as [`Run::map`](crate::Run::map) does.
    pub fn map<'c, N>(
        &'c self,
        nodes: impl IntoIterator<Item = N, IntoIter: Send + 'c>,
    ) -> Map<'c, N::Output>
    where
        N: Exec<S> + Send + 'c,
    {
        Map::new(
            self.context.core,
            self.caller(),
            self.state,
            nodes.into_iter(),
        )
    }

    /// Calls many nodes that come from an async stream; otherwise like [`map`](Cx::map).
    pub fn map_stream<'c, N>(
        &'c self,
        nodes: impl Stream<Item = N> + Send + 'c,
    ) -> Map<'c, N::Output>
    where
        N: Exec<S> + Send + 'c,
    {
        Map::of_stream(self.context.core, self.caller(), self.state, nodes)
    }
}

impl<'r, T: Send + 'r> Map<'r, T> {
    pub(super) fn new<S, N>(
        core: &'r RunCore,
        caller: Caller<'r>,
        state: &'r S,
        mut nodes: impl Iterator<Item = N> + Send + 'r,
    ) -> Self
    where
        S: ?Sized,
        N: Exec<S, Output = T> + Send + 'r,
    {
        let total = ProgressCounter::exact_size(|| nodes.size_hint());
        let mut items = 0..;
        let calls = Box::new(move |_: &mut Context<'_>, shared: &Shared<'r>| {
            let caller = Caller {
                item: items.next(),
                ..caller
            };
            let node = nodes.next();
            Poll::Ready(node.map(|node| call(core, caller, state, node, shared)))
        });
        Map::of_calls(core, calls, total, N::FACTS.retries_itself)
    }

    pub(super) fn of_stream<S, N>(
        core: &'r RunCore,
        caller: Caller<'r>,
        state: &'r S,
        nodes: impl Stream<Item = N> + Send + 'r,
    ) -> Self
    where
        S: ?Sized,
        N: Exec<S, Output = T> + Send + 'r,
    {
        let total = ProgressCounter::exact_size(|| nodes.size_hint());
        let mut nodes = Box::pin(nodes);
        let mut items = 0..;
        let calls = Box::new(move |cx: &mut Context<'_>, shared: &Shared<'r>| {
            let node = ready!(nodes.as_mut().poll_next(cx));
            let caller = Caller {
                item: items.next(),
                ..caller
            };
            Poll::Ready(node.map(|node| call(core, caller, state, node, shared)))
        });
        Map::of_calls(core, calls, total, N::FACTS.retries_itself)
    }

    /// `asks_models`: its nodes ask a model, or run others that do, as what is only code does not.
    fn of_calls(
        core: &'r RunCore,
        calls: Calls<'r, T>,
        total: Option<usize>,
        asks_models: bool,
    ) -> Self {
        Map {
            core,
            calls,
            total,
            concurrency: CONCURRENCY,
            settings: Settings::new(),
            limits: Limits::new(),
            on_progress: None,
            recording: None,
            give_up_after: GIVE_UP_AFTER,
            keeps_going: false,
            allows_changes: false,
            // Where no model is asked, there is no cache that the first one could warm.
            warm_cache: if asks_models { None } else { Some(false) },
            batch_api: None,
        }
    }

    /// Sets how many calls run at once. Default 8; 0 counts as 1.
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = calls.max(1);
        self
    }

    /// Sets what all calls of the map may spend together. The limits of its
    /// [settings](Settings::limits) apply to each call.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the record of each call beside its output.
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
    /// for report in run.map([Double(1), Double(2)]).report().await {
    ///     let report = report?;
    ///     println!("{}: {:?}, {:?}", report.value, report.record.elapsed, report.record.usage().cost.total());
    /// }
    /// # Ok::<(), NodeError>(()) }).unwrap();
    /// ```
    pub fn report(self) -> Map<'r, CallReport<T>> {
        self.with_calls(|mut calls| {
            Box::new(move |cx, shared| {
                let call = ready!(calls(cx, shared));
                Poll::Ready(call.map(reported))
            })
        })
    }

    fn with_calls<U>(self, change: impl FnOnce(Calls<'r, T>) -> Calls<'r, U>) -> Map<'r, U> {
        Map {
            core: self.core,
            calls: change(self.calls),
            total: self.total,
            concurrency: self.concurrency,
            settings: self.settings,
            limits: self.limits,
            on_progress: self.on_progress,
            recording: self.recording,
            give_up_after: self.give_up_after,
            keeps_going: self.keeps_going,
            allows_changes: self.allows_changes,
            warm_cache: self.warm_cache,
            batch_api: self.batch_api,
        }
    }

    /// Sets how long the map waits for a first answer, once a rate limit or an
    /// outage holds it. Then the items that wait fail with their last error, and
    /// the nodes that are left are not asked. Default 15 minutes.
    pub fn give_up_after(mut self, time: Duration) -> Self {
        self.give_up_after = time;
        self
    }

    /// With a journal (`resume` of the feature `journal`): asks anew, although no
    /// first request of the map is among those that the journal has answers to. By
    /// default that is a `config_error` before anything is sent, with what the
    /// answers cost: a word changed in a prompt makes a map pay for everything
    /// again.
    pub fn allow_changes(mut self) -> Self {
        self.allows_changes = true;
        self
    }

    /// Asks on after a failure that no retry mends. By default, the first
    /// `api_key_error`, `quota_error`, `not_found` of the model, or
    /// `limit_exceeded` of the map's own limits ends the asking: each node that is
    /// left fails with that category, unless it has a fallback. Of an endpoint, a
    /// key and a model, the others are asked.
    pub fn keep_going(mut self) -> Self {
        self.keeps_going = true;
        self
    }

    /// Sets whether the first item goes alone until its answer begins, so that all
    /// others read from the provider's cache what it has written. Default: in maps
    /// with ten times as many items as run at once, where the model's provider
    /// keeps what the items share. A failure of the first item ends the wait, and
    /// so do 30 seconds.
    pub fn warm_cache(mut self, first_alone: bool) -> Self {
        self.warm_cache = Some(first_alone);
        self
    }

    /// Asks by the batch API of the model's provider: the requests of the map are
    /// sent together, and answered within a day, for about half the price (what it
    /// is for a model stands in the run's [prices](crate::Run::with_prices)).
    /// Everything else is as ever: types, validators, limits, fallbacks. A
    /// correction joins the next batch.
    ///
    /// Needs the feature `batch`, a model that has such an API (`OpenAi`,
    /// `Anthropic` or `Gemini` at their providers' own hosts), and a journal
    /// (`resume`): a batch outlives its process, and the next one goes on with it.
    /// Otherwise every call fails with a `config_error` before anything is sent.
    ///
    /// [`concurrency`](Map::concurrency) says how many calls do something else than
    /// wait. Deadlines and timeouts of calls bound what they do besides waiting.
    pub fn batch_api(mut self, api: BatchApi) -> Self {
        self.batch_api = Some(api);
        self
    }

    setters! {
        /// Sets the model that every call asks: a name registered on the run, or
        /// else the provider's id.
        model: impl Into<Cow<'static, str>>,
        /// Sets the sampling temperature of every call, 0 or more.
        temperature: f64,
        /// Sets the most tokens of an answer, 1 or more.
        max_tokens: u32,
        /// Sets how much the model thinks before each answer.
        reasoning: Reasoning,
        /// Sets whether the provider is asked to keep the beginning of the prompts in its cache.
        cache: Cache,
        /// Sets the longest time of each call, with its waits.
        deadline: Duration,
        /// Sets how many further requests of each call follow a bad answer.
        retries: u32,
        /// Sets how many further requests of each call follow a failure of the transport.
        transport_retries: u32,
    }

    /// Adds a label to every call, such as `("tenant", "x")`. Records, spans and hooks have it.
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.overrides().labels.insert(name.into(), value.into());
        self
    }

    fn overrides(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// Sets all settings of every call at once, and drops those set so far.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Calls this function as each call ends, and when requests begin or cease to
    /// be held, for a progress bar. It should be quick. A panic in it is logged
    /// under `llmnode::hook` and changes nothing.
    pub fn on_progress(mut self, callback: impl FnMut(&BatchProgress) + Send + 'r) -> Self {
        self.on_progress = Some(Box::new(callback));
        self
    }

    /// Records every call of the map, and all calls within: `Recording` of the
    /// feature `page` shows them as a page.
    pub fn record(mut self, recording: &'r dyn RunRecorder) -> Self {
        self.recording = Some(recording);
        self
    }

    /// Returns all outputs, or the first error. [`NodeError::item`] says which node
    /// failed. The other calls are cancelled.
    ///
    /// # Errors
    /// The error of the call that failed first.
    pub async fn try_all(self) -> Result<Vec<T>, NodeError> {
        self.bounded().try_all_as(|report| report.value).await
    }

    /// Returns one result at a time, in the order of the nodes. Memory does not
    /// grow with their number. A result that waits for an earlier one keeps its
    /// place.
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
        Results::new(move |cx| results.poll(cx).map(|next| next.map(value)))
    }

    /// Returns one result at a time as the calls end, with the index of its node.
    /// Memory does not grow with the number of nodes.
    pub fn as_completed(self) -> Results<'r, (usize, Result<T, NodeError>)> {
        let mut bounded = self.bounded();
        let value = |(index, outcome)| (index, value(outcome));
        Results::new(move |cx| bounded.poll_next(cx, 0).map(|next| next.map(value)))
    }

    /// Makes all that the calls of the map share. Nothing runs before the result is polled.
    fn bounded(self) -> BoundedFutures<'r, Result<CallReport<T>, NodeError>> {
        let Map {
            core,
            mut calls,
            total,
            concurrency,
            settings,
            limits,
            on_progress,
            recording,
            ..
        } = self;
        let counter = ProgressCounter::new(on_progress, total, &*core.clock);
        let changes = ChangeCheck::new(self.allows_changes);
        // The requests of a batch have no order.
        let warm_cache = match self.batch_api {
            Some(_) => Some(false),
            None => self.warm_cache,
        };
        let warm_up = WarmUp::new(warm_cache, total, concurrency);
        let batches = self
            .batch_api
            .map(|api| batch_pool(api, core, &settings, concurrency));
        let control = MapControl::new(
            Arc::clone(&core.clock),
            concurrency,
            self.give_up_after,
            self.keeps_going,
            changes,
            warm_up,
        );
        let control = Arc::new(control.over(batches));
        control.has_items(total.unwrap_or(0));
        let shared = Shared {
            control: Arc::clone(&control),
            settings: Arc::new(settings),
            limits: MapLimits::new(limits),
            core: None,
            recording,
        };
        let next_call = Box::new(move |cx: &mut Context<'_>| calls(cx, &shared));
        BoundedFutures::new(next_call, concurrency, counter).controlled(control)
    }
}

/// What asks the items of a map by batches. A deadline of the calls is a fault of
/// it, which each of them then reports.
fn batch_pool(
    api: BatchApi,
    core: &RunCore,
    settings: &Settings,
    concurrency: usize,
) -> Arc<BatchPool> {
    let clock = Arc::clone(&core.clock);
    let prices = Arc::clone(&core.limits.prices);
    let fault = settings.deadline.map(|_| {
        "a deadline of the map would pass while its batch is answered; leave out `deadline`, and set \
         `BatchApi::within`"
    });
    let pool = BatchPool::new(api, clock, prices, concurrency);
    Arc::new(pool.faulty(fault))
}

/// Asks an item, by one call after the other. One round of the loop:
///
/// 1. Once a call of the map had to wait at a gate, items wait there before their
///    calls begin: no deadline runs meanwhile.
/// 2. If the map has ended by then, the item has the error of its last call, which
///    says more than that the map ended.
/// 3. A new call asks. It has a record and a deadline of its own; an agent
///    continues behind the tools that have run.
/// 4. An outcome that stays is returned. Else the journal is told that the item is
///    put back, before the next call looks for its conversation there.
fn call<'r, S, N>(
    core: &'r RunCore,
    caller: Caller<'r>,
    state: &'r S,
    node: N,
    shared: &Shared<'r>,
) -> CallFuture<'r, N::Output>
where
    S: ?Sized,
    N: Exec<S> + Send + 'r,
{
    let caller = caller.recorded_by(shared.recording);
    let settings = Arc::clone(&shared.settings);
    let limits = shared.limits.clone();
    let recorded_core = shared.core.clone();
    let control = Arc::clone(&shared.control);
    Box::pin(async move {
        let core = recorded_core.as_deref().unwrap_or(core);
        let around = limits.map(|limits| {
            CallLimits::for_map_call(&limits, caller.limits(), &core.limits, &*core.clock)
        });
        control.has_items(caller.item.map_or(0, |at| at as usize + 1));
        let item = MapItem::new(&control, caller.map_item());
        let outer_end = caller.deadline().map(Deadline::end);
        let mut last: Option<NodeError> = None;
        let mut unfinished = None;
        let mut conversations = Vec::new();
        loop {
            // Boxed, since few items wait.
            if control.takes_one_by_one() {
                Box::pin(wait_before_call(&item)).await;
            }
            if let Some(last) = last.take_if(|_| control.has_ended()) {
                return Err(last);
            }
            let caller = caller.limited(around.as_ref()).of_item(&item);
            item.begin_call();
            // Now, and not when the last call failed: of equal items, each is to find its own again.
            let put_back = std::mem::take(&mut conversations);
            if let Some(recorder) = core.hooks.recorder() {
                recorder.put_back(&put_back);
            }
            let mut call = Call::new(core, CalledBy::Caller(&caller), state, &node)
                .sharing(Arc::clone(&settings));
            if let Some(unfinished) = unfinished.take() {
                call = call.resume(unfinished);
            }
            let outcome = while_it_warms_up(&control, call.report()).await;
            // The call's own error says more than one of its recorder.
            if recorded_core.is_some()
                && let Err(fault) = core.hooks.flush().await
                && outcome.is_ok()
            {
                tracing::warn!(target: "llmnode::journal", "{fault}");
            }
            let Err(error) = outcome else { return outcome };
            if around.is_some() && ends_map(&error) {
                control.end(&error);
            }
            unfinished = match N::FACTS.idempotent {
                true => unfinished_agent(&error, &node),
                false => None,
            };
            let failed = FailedCall {
                error: &error,
                outer_end,
                continues: unfinished.is_some(),
            };
            let Some(put_back) = item.put_back(&failed).await else {
                return Err(error);
            };
            conversations = put_back;
            last = Some(error);
        }
    })
}

/// An agent goes on behind its tools, of which none runs twice. `None`: the call begins
/// anew. The node's name is code of the program, so it is asked only when an agent
/// has left something.
fn unfinished_agent<N: Node>(error: &NodeError, node: &N) -> Option<Unfinished> {
    let agent = error.own_unfinished::<Unfinished>()?;
    if agent.node() != node.name() {
        return None;
    }
    Some(agent.clone())
}

/// Whether nothing is left of what the map may spend. Ask it of a map that has
/// limits: one without may have another in it that has some.
fn ends_map(error: &NodeError) -> bool {
    error.category() == Category::LimitExceeded && is_of_map(error.message())
}

/// Polls the call of an item. While the other items wait for this one to warm the
/// provider's cache, its time is bounded: then they go on, and so does it. The
/// clock is only asked while they wait, so that no other call pays for it.
fn while_it_warms_up<F: Future + Unpin>(
    control: &MapControl,
    mut call: F,
) -> impl Future<Output = F::Output> {
    // Set by the first poll that finds the others waiting.
    let mut timer: Option<BoxFuture<'_, ()>> = None;
    poll_fn(move |cx| {
        let outcome = Pin::new(&mut call).poll(cx);
        if outcome.is_ready() || !control.warm_up().holds() {
            return outcome;
        }
        if timer.is_none() {
            let clock = control.clock();
            let end = clock.now().checked_add(warm_up::PATIENCE);
            timer = end.map(|end| clock.until(end));
        }
        if let Some(timer) = &mut timer
            && timer.as_mut().poll(cx).is_ready()
        {
            control.warm_up().end();
        }
        outcome
    })
}

/// Starts a recorder. It comes with what earlier processes have spent on the map.
type RecorderFuture<'r> = BoxFuture<'r, Result<(Arc<dyn Recorder>, PriorSpend), NodeError>>;

/// Records the calls of a map. If the recorder fails to start, its error is the map's only result.
pub fn recorded_by<'r, T: Send + 'r>(
    map: Map<'r, T>,
    recorder: impl FnOnce(&'r RunCore) -> RecorderFuture<'r>,
) -> Map<'r, T> {
    let core = map.core;
    let mut pending_recorder = Some(recorder(core));
    let mut recorded_core = None;
    map.with_calls(|mut calls| {
        Box::new(move |cx, shared| {
            if let Some(recorder) = &mut pending_recorder {
                let outcome = match second_journal_fault(core, shared) {
                    Some(why) => Err(NodeError::new(Category::ConfigError, why)),
                    None => ready!(recorder.as_mut().poll(cx)),
                };
                pending_recorder = None;
                let (recorder, spent) = match outcome {
                    Ok(started) => started,
                    Err(error) => return Poll::Ready(Some(failed(error))),
                };
                // Before the first call: what was spent counts against the limits of the whole map.
                if let Some(limits) = &shared.limits {
                    limits.add_prior_spend(&spent);
                }
                if let Some(batches) = shared.control.batches() {
                    batches.room().add_prior_spend(&spent);
                    batches.begin(Arc::clone(&recorder));
                }
                recorded_core = Some(Arc::new(core.recorded_by(recorder)));
            }
            let Some(recorded_core) = &recorded_core else {
                return Poll::Ready(None);
            };
            let shared = Shared {
                control: Arc::clone(&shared.control),
                settings: Arc::clone(&shared.settings),
                limits: shared.limits.clone(),
                core: Some(Arc::clone(recorded_core)),
                recording: shared.recording,
            };
            calls(cx, &shared)
        })
    })
}

/// Why the map may have no journal of its own. `None`: it may.
fn second_journal_fault(core: &RunCore, shared: &Shared<'_>) -> Option<&'static str> {
    if shared.core.is_some() {
        return Some("the map has more than one journal; leave out one `resume`");
    }
    core.hooks.recorder()?;
    Some("a map within a flow with a journal keeps no answers of its own; leave out `resume`")
}

fn failed<'r, T: Send + 'r>(error: NodeError) -> CallFuture<'r, T> {
    Box::pin(std::future::ready(Err(error)))
}

fn value<T>(outcome: Result<CallReport<T>, NodeError>) -> Result<T, NodeError> {
    outcome.map(|report| report.value)
}

/// The report of a call as the output of another one, with the same figures.
fn reported<'r, T: Send + 'r>(call: CallFuture<'r, T>) -> CallFuture<'r, CallReport<T>> {
    Box::pin(async move {
        let report = call.await?;
        Ok(CallReport {
            record: Arc::clone(&report.record),
            total: report.total,
            replayed: report.replayed.clone(),
            messages: Vec::new(),
            carried: None,
            compacted: Vec::new(),
            value: report,
        })
    })
}

impl<'r, T: Send + 'r> IntoFuture for Map<'r, T> {
    type Output = Vec<Result<T, NodeError>>;
    type IntoFuture = BoxFuture<'r, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.bounded().all_as(value))
    }
}

impl_debug!([T] Map<'_, T>: total, concurrency);
