//! A run: models, a state, and a ledger of what was spent.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Once};

use futures_core::Stream;
use llmnode_model::ChatModel;
use llmnode_model::gate::Gates;

use super::call::{Call, CalledBy};
use super::context::Caller;
use super::core::RunCore;
use super::extract::Extract;
use super::map::Map;
use super::map_hint::Mapped;
use super::node::Exec;
use crate::clock::{Clock, TokioClock};
use crate::ledger::{AttemptRecord, CallInfo, CallRecord, Hooks, Ledger};
use crate::limits::{LimitedNode, Limits, RunLimits};
use crate::node::Node;
use crate::pause::{ApprovalFuture, WaitingCall};
use crate::prices::Prices;
use crate::settings::Settings;

/// Models to ask, a state to read, and a ledger of everything spent.
///
/// A run is cheap to clone. Clones share models, limits and ledger, and so do runs made by
/// [`with_state`](Run::with_state). It needs tokio.
///
/// Put it into an `Arc` to share the state as well: `Arc<Run<World>>` serves a whole process.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{NodeError, Price, Prices, Run, ScriptedModel, Settings};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// // A model for tests; a real one is `OpenAi::from_env()?`.
/// let model = ScriptedModel::new().reply("[4, 8]");
/// let run = Run::new(model)
///     .with_settings(Settings::new().retries(1))
///     .with_prices(Prices::new().model("scripted", Price::per_million(2.0, 8.0)));
/// let numbers = run.extract::<Vec<u8>>("four, then eight").await?;
/// assert_eq!(numbers, [4, 8]);
/// assert_eq!(run.ledger().total().requests, 1);
///
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct Run<S = ()> {
    pub(super) core: Arc<RunCore>,
    pub(super) state: S,
}

impl Run {
    /// Creates a run on a model, without state.
    pub fn new(model: impl ChatModel + 'static) -> Run {
        let core = RunCore {
            model: Arc::new(model),
            models: BTreeMap::new(),
            settings: Settings::new(),
            defaults: Settings::new(),
            ledger: Ledger::default(),
            hooks: Hooks::default(),
            content_in_traces: false,
            clock: Arc::new(TokioClock),
            limits: RunLimits::default(),
            approver: None,
            node_data: BTreeMap::new(),
            extra_for_all: Arc::new(Once::new()),
            gates: Gates::default(),
        };
        Run {
            core: Arc::new(core),
            state: (),
        }
    }
}

impl<S> Run<S> {
    /// Returns a run with another state, which shares the models, limits and ledger of this one.
    ///
    /// The state is of the type that the nodes name (`state = World`), or an `Arc` of it.
    pub fn with_state<T>(&self, state: T) -> Run<T> {
        Run {
            core: Arc::clone(&self.core),
            state,
        }
    }

    /// Registers another model under a name that attributes, calls and recoveries may use.
    #[must_use]
    pub fn model(self, name: impl Into<String>, model: impl ChatModel + 'static) -> Self {
        self.model_with(name, model, Settings::new())
    }

    /// Registers another model with settings of its own: an id, a temperature,
    /// fields of the request that other models do not know.
    #[must_use]
    pub fn model_with(
        mut self,
        name: impl Into<String>,
        model: impl ChatModel + 'static,
        settings: Settings,
    ) -> Self {
        Arc::make_mut(&mut self.core)
            .models
            .insert(name.into(), (Arc::new(model), settings));
        self
    }

    /// Sets the settings of all calls that do not override them. They are stronger
    /// than a node's attributes: [`with_defaults`](Self::with_defaults) sets weaker
    /// ones.
    #[must_use]
    pub fn with_settings(mut self, settings: Settings) -> Self {
        Arc::make_mut(&mut self.core).settings = settings;
        self
    }

    /// Sets what holds where neither the call, nor the model, nor the run, nor the
    /// node says anything: a service sets `attempt_timeout` for all nodes here, and
    /// a node that needs longer says so. Labels are those of
    /// [`with_settings`](Self::with_settings) alone.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// # use std::time::Duration;
    /// use llmnode::{Run, ScriptedModel, Settings};
    ///
    /// let settings = Settings::new().attempt_timeout(Duration::from_secs(20)).transport_retries(4);
    /// let run = Run::new(ScriptedModel::new()).with_defaults(settings);
    /// # let _ = run;
    /// ```
    #[must_use]
    pub fn with_defaults(mut self, settings: Settings) -> Self {
        Arc::make_mut(&mut self.core).defaults = settings;
        self
    }

    /// Limits what all calls of the run may spend together, with those of its
    /// clones and of runs made by [`with_state`](Run::with_state). It counts from
    /// now on.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        Arc::make_mut(&mut self.core).limits.set(limits);
        self
    }

    /// Limits what all calls of a node's type may spend together in the run. It
    /// counts from now on. The node's attributes limit what is not set here.
    #[must_use]
    pub fn with_node_limits<N: Node>(mut self, limits: Limits) -> Self {
        Arc::make_mut(&mut self.core)
            .limits
            .set_node(LimitedNode::of::<N>(), limits);
        self
    }

    /// Limits what all calls of nodes of this name may spend together in the run,
    /// beside the limits of their types. It is for nodes whose names are known only
    /// at run time, such as those of a graph. It counts from now on.
    #[must_use]
    pub fn with_limits_of(mut self, name: impl Into<String>, limits: Limits) -> Self {
        Arc::make_mut(&mut self.core)
            .limits
            .set_named(name.into(), limits);
        self
    }

    /// Sets what models cost. Records and the ledger then have the cost of each
    /// attempt, and limits of money can be checked.
    #[must_use]
    pub fn with_prices(mut self, prices: Prices) -> Self {
        self.core.ledger.set_prices_made(prices.made());
        Arc::make_mut(&mut self.core).limits.prices = Arc::new(prices);
        self
    }

    /// Sets the clock for all waits and deadlines. Default: tokio's.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        Arc::make_mut(&mut self.core).clock = Arc::new(clock);
        self
    }

    /// Asks this function before a tool with `require_approval` runs. The arguments
    /// have been read and validated by then. It is not asked about other tools. The
    /// time that it takes counts for deadlines; to ask a person, answer
    /// [`Approval::later`](crate::Approval::later), which pauses the call.
    ///
    /// Without such a function, each call of such a tool pauses: see
    /// [`Paused`](crate::Paused).
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// use llmnode::{Approval, Run, ScriptedModel};
    ///
    /// let run = Run::new(ScriptedModel::new()).with_approval(|call| async move {
    ///     match call.name.as_str() {
    ///         "remove" => Approval::no("nothing is removed at night"),
    ///         _ => Approval::later(),
    ///     }
    /// });
    /// # let _ = run;
    /// ```
    #[must_use]
    pub fn with_approval<F>(
        mut self,
        ask: impl Fn(WaitingCall) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: ApprovalFuture,
    {
        Arc::make_mut(&mut self.core).approver = Some(Arc::new(move |call| Box::pin(ask(call))));
        self
    }

    /// Calls this function when an attempt ends in any way: with an answer, a
    /// failure, a panic, or dropped. It is for metrics. Functions that were set
    /// earlier run first. Clones made afterwards have them too.
    ///
    /// It runs within the call, so it should be quick. The ledger already has the
    /// attempt. A panic in it is logged under `llmnode::hook` and changes nothing.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// use llmnode::{Run, ScriptedModel};
    ///
    /// let run = Run::new(ScriptedModel::new()).on_attempt(|call, attempt| {
    ///     println!("{} {}: {:?} in {:?}", call.node, attempt.id, attempt.category, attempt.elapsed);
    /// });
    /// # let _ = run;
    /// ```
    #[must_use]
    pub fn on_attempt(
        mut self,
        hook: impl Fn(&CallInfo<'_>, &AttemptRecord) + Send + Sync + 'static,
    ) -> Self {
        Arc::make_mut(&mut self.core).hooks.on_attempt(hook);
        self
    }

    /// Calls this function when a call ends, with its record. See [`on_attempt`](Run::on_attempt).
    #[must_use]
    pub fn on_call(mut self, hook: impl Fn(&CallRecord) + Send + Sync + 'static) -> Self {
        Arc::make_mut(&mut self.core).hooks.on_call(hook);
        self
    }

    /// Sets whether spans contain prompts and answers (`gen_ai.input.messages`,
    /// `gen_ai.output.messages`, up to 64 KiB each). Default: no. Then no span, log
    /// or ledger has any.
    #[must_use]
    pub fn with_content_in_traces(mut self, content: bool) -> Self {
        Arc::make_mut(&mut self.core).content_in_traces = content;
        self
    }

    /// To show what a node would ask. Also ignores the models that nodes hold.
    pub(crate) fn without_limits(mut self) -> Self {
        Arc::make_mut(&mut self.core).limits.ignored = true;
        self
    }

    /// Returns the settings of the run, which [`with_settings`](Run::with_settings)
    /// replaces: to change one of them, give a changed clone back.
    pub fn settings(&self) -> &Settings {
        &self.core.settings
    }

    /// Returns the state.
    pub fn state(&self) -> &S {
        &self.state
    }

    /// Returns the state, to change it between calls.
    pub fn state_mut(&mut self) -> &mut S {
        &mut self.state
    }

    /// Returns the state and drops the run.
    pub fn into_state(self) -> S {
        self.state
    }

    /// Returns the names of the models that are registered beside the run's own.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        self.core.models.keys().map(String::as_str)
    }

    /// Returns a handle to the figures so far. It can be read while calls run.
    pub fn ledger(&self) -> Ledger {
        self.core.ledger.clone()
    }

    /// Calls a node. The call reads the state and never writes it.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// # use llmnode::{BoxError, Cx, Exec, Node, NodeError};
    /// use std::time::Duration;
    ///
    /// use llmnode::{Run, ScriptedModel};
    ///
    /// # struct Double { number: u64 }
    /// # impl Node for Double { type Output = u64; const NAME: &'static str = "double"; }
    /// # impl<S: ?Sized + Sync> Exec<S> for Double {
    /// #     async fn exec(&self, _: &Cx<'_, S>) -> Result<u64, BoxError> { Ok(self.number * 2) }
    /// # }
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    /// # runtime.block_on(async {
    /// let run = Run::new(ScriptedModel::new());
    /// let output = run.call(&Double { number: 4 }).await?;
    /// assert_eq!(output, 8);
    ///
    /// // Settings of this call, and its record.
    /// let report = run.call(&Double { number: 4 }).deadline(Duration::from_secs(5)).report().await?;
    /// assert_eq!((report.value, report.record.attempts.len()), (8, 0));
    /// # Ok::<(), NodeError>(()) }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// A [`NodeError`](crate::NodeError) when the recovery of the last failure has
    /// ended without an output. Its [category](crate::Category) says what went
    /// wrong, and it has the record of the call:
    ///
    /// - the answers stay bad (`schema_error`, `validation_error`,
    ///   `empty_response`);
    /// - the provider or the way to it fails (`rate_limit_error`, `timeout`,
    ///   `quota_error`, ..), or the deadline passes (`timeout`);
    /// - a limit is reached (`limit_exceeded`) or cannot be checked
    ///   (`limit_unenforceable`);
    /// - the program is at fault: `config_error`, `prep_error`, `aborted`, `panic`.
    ///
    /// A node without a model fails with `exec_error`.
    // `T` is a separate parameter: with `N::Output`, a type that is not a node
    // would cause two errors. `N` is `Sized` by `Exec`: with a bound of its own, a
    // text in place of a node would be another two.
    #[expect(
        clippy::needless_maybe_sized,
        reason = "one error in place of three, as said above"
    )]
    pub fn call<'r, N, T>(&'r self, node: &'r N) -> Call<'r, T>
    where
        N: Exec<S, Output = T> + ?Sized,
    {
        Call::new(&self.core, CalledBy::Run, &self.state, node)
    }

    /// Reads a type out of a text, without a node:
    /// `run.extract::<Invoice>(&text).retries(2).await?`. The call has the same
    /// loop, settings and report as that of a node, and is recorded as `extract`.
    /// Write a node for a prompt of your own, for `choices`, and for a type with
    /// validators, which is a `config_error` here.
    pub fn extract<'r, T>(&'r self, text: &'r str) -> Call<'r, T>
    where
        T: crate::LlmOutput,
        S: Sync,
    {
        Call::owned(&self.core, &self.state, Extract::<T>::new(text))
    }

    pub(crate) fn call_on<'r, T, N>(&'r self, state: &'r T, node: &'r N) -> Call<'r, N::Output>
    where
        T: ?Sized,
        N: Exec<T>,
    {
        Call::new(&self.core, CalledBy::Run, state, node)
    }

    /// Calls many nodes, eight at a time by default
    /// ([`concurrency`](Map::concurrency)). The results are in the order of the
    /// nodes. A failure does not disturb the other calls.
    // The bound is on the item of the parameter, so that the compiler's message for
    // `run.map(texts)` is at `texts`.
    pub fn map<'r, I, T>(&'r self, nodes: I) -> Map<'r, T>
    where
        I: IntoIterator<Item: Mapped<S, T> + 'r, IntoIter: Send + 'r>,
        T: Send + 'r,
    {
        Map::new(
            &self.core,
            Caller::default(),
            &self.state,
            nodes.into_iter(),
        )
    }

    /// Calls many nodes that come from an async stream. See [`map`](Run::map). The
    /// next node is taken only when there is room for its call.
    pub fn map_stream<'r, I, T>(&'r self, nodes: I) -> Map<'r, T>
    where
        I: Stream<Item: Mapped<S, T> + 'r> + Send + 'r,
        T: Send + 'r,
    {
        Map::of_stream(&self.core, Caller::default(), &self.state, nodes)
    }
}

impl<S> fmt::Debug for Run<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("models", &self.core.models.keys())
            .field("settings", &self.core.settings)
            .finish_non_exhaustive()
    }
}
