//! One call of a node: settings first, then an await.

use std::borrow::Cow;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use llmnode_model::ext::SentPrompt;
use llmnode_model::internal::{catch_panic, catch_panic_of};
use llmnode_model::{
    ApiKind, BoxFuture, Cache, Category, Message, ProviderState, Reasoning, ResponseFormat,
};
use serde::Serialize;
use serde_json::Value;
use tracing::{Instrument, Span};

use super::call_options::{CallOptions, Handover, Writer, origin, sources_of, turn_of};
use super::compaction::Sources;
use super::context::{CallContext, CallExtensions, Caller};
use super::core::RunCore;
use super::cx::Cx;
use super::ended::{Account, Ended};
use super::erased_exec::{ErasedExec, TypedExec};
use super::exec_attempts::exec_with_attempts;
use super::failure::Failure;
use super::hints::{Hinted, ToolsOfACall};
use super::listener::Listener;
use super::node::{CalledNode, Exec};
use super::resume::Origin;
use super::turn::{Turn, without_conversation};
use crate::clock::Clock;
use crate::conversation::TurnStore;
use crate::error::{ErrorInternals as _, NodeError};
use crate::ledger::{
    CallGuard, CallRecord, Compacted, Cost, Labels, NodeKey, Parent, Replayed, RunEvent,
    RunRecorder, Sinks, Usage, UsedFallback, record_event,
};
use crate::limits::{CallLimits, LimitedNode, Limits};
use crate::node::NodeFacts;
use crate::pause::{IntoPaused, Unfinished};
use crate::settings::{Backoff, EMPTY_SETTINGS, Failures, Recovery, Settings, setters};
use crate::text::impl_debug;
use crate::validate::AttemptInfo;

pub(super) type CallResult<T> = Result<CallReport<T>, NodeError>;

/// One call of a node. It starts when it is first polled.
///
/// Its settings override those of the run, which override the node's attributes. A
/// call is a future, so `join!`, `select!` and `timeout` take it; dropping it
/// cancels the call. Settings written after the first poll have no effect. A panic
/// of the node, its output or its model is caught, and is the call's error.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use std::time::Duration;
/// use llmnode::{NodeError, Run, ScriptedModel};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let run = Run::new(ScriptedModel::new().reply("seven").reply("7"));
/// let call = run.extract::<u8>("a week has seven days").retries(2).deadline(Duration::from_secs(20)).label("tenant", "a");
/// assert_eq!(call.await?, 7);
///
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
#[must_use = "a call does nothing until it is awaited"]
pub struct Call<'r, T> {
    pub(super) options: CallOptions<'r>,
    /// Writes the output for a conversation, if the call has one.
    writer: Option<Writer<T>>,
    /// Makes the future, with all settings, when the call is first polled.
    begin: Box<dyn Begin<'r, T> + 'r>,
    under_way: Option<BoxFuture<'r, CallResult<T>>>,
}

/// What a call does when it is first polled. Its code is compiled for every type of
/// output, so this is no future that waits for its settings behind a lock, nor a
/// closure: both are several functions more.
trait Begin<'r, T>: Send {
    fn begin(&mut self, handover: Handover<'r, T>) -> BoxFuture<'r, CallResult<T>>;
}

/// Who makes a call, until it begins: a `Caller` is long, and would be kept twice.
#[derive(Clone, Copy)]
pub(super) enum CalledBy<'r> {
    Run,
    Node(&'r CallContext<'r>),
    Caller(&'r Caller<'r>),
}

impl<'r> CalledBy<'r> {
    fn caller(self) -> Caller<'r> {
        match self {
            CalledBy::Run => Caller::default(),
            CalledBy::Node(context) => Caller {
                execution: Some(context),
                ..Caller::default()
            },
            CalledBy::Caller(caller) => *caller,
        }
    }
}

struct Borrowed<'r, N, S: ?Sized> {
    core: &'r RunCore,
    called_by: CalledBy<'r>,
    state: &'r S,
    node: &'r N,
}

impl<'r, N: Exec<S>, S: ?Sized> Begin<'r, N::Output> for Borrowed<'r, N, S> {
    fn begin(&mut self, handover: Handover<'r, N::Output>) -> BoxFuture<'r, CallResult<N::Output>> {
        typed(self.core, self.called_by, self.state, self.node, handover)
    }
}

struct Owned<'r, N, S: ?Sized> {
    core: &'r RunCore,
    state: &'r S,
    /// Moves into the future, once.
    node: Option<N>,
}

impl<'r, N, S> Begin<'r, N::Output> for Owned<'r, N, S>
where
    N: Exec<S> + Send + 'r,
    N::Output: Send + 'r,
    S: ?Sized,
{
    fn begin(&mut self, handover: Handover<'r, N::Output>) -> BoxFuture<'r, CallResult<N::Output>> {
        const { check_attempts::<S, N>() };
        let core = self.core;
        let state = self.state;
        let node = self.node.take();
        // Not `typed`, which would be a box more.
        Box::pin(async move {
            let Some(node) = &node else {
                return Err(without_value());
            };
            let mut node = TypedExec {
                called_node: CalledNode::new(node),
                state,
                handover,
                wants_report: true,
            };
            let outcome = start(core, Caller::default(), &mut node).await;
            with_value(outcome, node.called_node.value)
        })
    }
}

impl RunCore {
    /// Calls a node at once, without settings of the call, and without a report.
    ///
    /// # Errors
    /// Those of the call.
    pub fn call<'r, S, N>(
        &'r self,
        caller: Caller<'r>,
        state: &'r S,
        node: &'r N,
    ) -> impl Future<Output = Result<Ended<N::Output>, NodeError>> + Send
    where
        S: ?Sized,
        N: Exec<S>,
    {
        const { check_attempts::<S, N>() };
        let mut node = TypedExec {
            called_node: CalledNode::new(node),
            state,
            handover: Handover::default(),
            wants_report: false,
        };
        // Boxed, so that the future of a step stays small: glibc takes longer to
        // find more than a kilobyte.
        Box::pin(async move {
            let outcome = start(self, caller, &mut node).await;
            match (outcome, node.called_node.value) {
                (Ok(report), Some(value)) => Ok(Ended {
                    value,
                    record: report.record,
                }),
                (outcome, _) => Err(ended_without_value(outcome)),
            }
        })
    }
}

impl<'r, T> Call<'r, T> {
    pub(super) fn new<S, N>(
        core: &'r RunCore,
        called_by: CalledBy<'r>,
        state: &'r S,
        node: &'r N,
    ) -> Self
    where
        S: ?Sized,
        N: Exec<S, Output = T>,
    {
        Call::begun_by(Box::new(Borrowed {
            core,
            called_by,
            state,
            node,
        }))
    }

    pub(crate) fn owned<S, N>(core: &'r RunCore, state: &'r S, node: N) -> Self
    where
        S: ?Sized,
        N: Exec<S, Output = T> + Send + 'r,
        T: Send + 'r,
    {
        Call::begun_by(Box::new(Owned {
            core,
            state,
            node: Some(node),
        }))
    }

    fn begun_by(begin: Box<dyn Begin<'r, T> + 'r>) -> Self {
        Call {
            options: CallOptions::default(),
            writer: None,
            begin,
            under_way: None,
        }
    }

    #[doc(hidden)]
    pub fn tools<X>(self, _: X) -> Self
    where
        Hinted<X>: ToolsOfACall,
    {
        self
    }

    setters! {
        /// Sets the model to ask: a name registered on the run, or else the provider's id.
        model: impl Into<Cow<'static, str>>,
        /// Sets the sampling temperature, 0 or more.
        temperature: f64,
        /// Sets the most tokens an answer may have, 1 or more.
        max_tokens: u32,
        /// Sets how much the model thinks before it answers.
        reasoning: Reasoning,
        /// Sets how the model is asked for the type of the answer. If the answer is
        /// raw text, this is a `config_error`.
        response_format: ResponseFormat,
        /// Sets whether an answer has to be exact: nothing is repaired or changed
        /// to fit the type. For raw text, `true` is a `config_error`.
        exact: bool,
        /// Sets how many further requests follow bad answers. For raw text, which
        /// is never bad, more than 0 is a `config_error`.
        retries: u32,
        /// Sets how many further requests follow failures of the transport.
        transport_retries: u32,
        /// Sets how often a node without a model is executed in all, 1 or more. For
        /// a node that asks a model, this is a `config_error`.
        attempts: u32,
        /// Sets the model to ask when the first one has failed: a name registered
        /// on the run, or else the provider's id.
        fallback_model: impl Into<Cow<'static, str>>,
        /// Sets the wait before each retry: a `Duration`, or a range from which it
        /// grows. It applies to failures of the transport and to executions of a
        /// node without a model. The wait that the server asks for is added. A step
        /// of `recover` with its own wait keeps it.
        wait: impl Into<Backoff>,
        /// Sets the longest time of the call: all its attempts and waits, and the
        /// calls that its node makes. When it passes, what is under way is dropped,
        /// and the call returns the node's fallback value or fails with `timeout`.
        deadline: Duration,
        /// Sets the longest time of one attempt. An attempt that takes longer is a
        /// `timeout`, which is retried as `transport_retries` says.
        attempt_timeout: Duration,
        /// Sets the longest wait that a server may ask for. If it asks for more,
        /// there is no retry. A wait set with `wait` or by a step of `recover` may
        /// be longer.
        max_wait: Duration,
        /// Sets whether thoughts that stand in a text (`<think>..</think>` first in
        /// it) are read as thoughts, and are no part of it. Default: yes.
        thoughts_in_text: bool,
        /// Sets whether the provider is asked to keep the beginning of the prompt in its cache.
        cache: Cache,
    }

    /// Sets the steps that follow failures of a category or group.
    pub fn recover(
        mut self,
        failures: impl Into<Failures>,
        steps: impl IntoIterator<Item = Recovery>,
    ) -> Self {
        let settings = std::mem::take(self.overrides());
        *self.overrides() = settings.recover(failures, steps);
        self
    }

    /// Sets what this call may spend, including the calls that its node makes.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.overrides().limits = limits;
        self
    }

    /// Continues a conversation that [paused](crate::Paused), once everything that
    /// waited is decided. No request and no tool is repeated, and turns continue to
    /// count; `retries` and limits start again. What runs after an approval is
    /// validated with the state as it is now.
    ///
    /// The node has to have the values that it had, in its own fields and in its
    /// history, and each approved tool the description and parameters that it had:
    /// a person approved this call for this node. All else may have changed since,
    /// as by a deployment: texts, the state, other tools, the output, settings, the
    /// model. The prompt is the node's as it is now, and the record says what
    /// changed ([`CallRecord::changed_since_pause`]). Otherwise, or if something is
    /// undecided, the call fails with `config_error` and nothing runs.
    ///
    /// A pause runs once in a process. It is free again if the call fails before
    /// the first approved tool begins; if it fails later, [`NodeError::unfinished`]
    /// has the results.
    pub fn approve(mut self, paused: impl IntoPaused) -> Self {
        self.options.rare().paused = Some(paused.into_paused());
        self
    }

    /// Lets [`approve`](Self::approve) and [`resume`](Self::resume) run an approved
    /// call of a tool whose description or parameters are not those that were
    /// shown. Default: that is a `config_error`.
    pub fn allow_changed_tool(mut self) -> Self {
        self.options.rare().allow_changed_tool = true;
        self
    }

    /// Goes on after the turns of a call that failed: [`NodeError::unfinished`]
    /// returns them. No turn is asked for again, and no tool that has a result is
    /// executed again; one that was under way is, unless it is `idempotent =
    /// false`: the model then reads that nobody knows whether it took effect. Turns
    /// continue to count; `retries`, the deadline and limits of the call start
    /// again.
    ///
    /// The prompt is the node's own as it is now, so the history may be shorter,
    /// and model and settings may be others. The conversation of another node is a
    /// `config_error`.
    pub fn resume(mut self, unfinished: Unfinished) -> Self {
        self.options.rare().unfinished = Some(unfinished);
        self
    }

    /// Adds a label, such as `("tenant", "x")`. The records, spans and hooks of
    /// this call and of the calls within it have it.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// # use llmnode::{BoxError, Cx, Exec, Node, Run, ScriptedModel};
    /// # struct Double(u64);
    /// # impl Node for Double { type Output = u64; const NAME: &'static str = "double"; }
    /// # impl<S: ?Sized + Sync> Exec<S> for Double {
    /// #     async fn exec(&self, _: &Cx<'_, S>) -> Result<u64, BoxError> { Ok(self.0 * 2) }
    /// # }
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    /// # runtime.block_on(async {
    /// let run = Run::new(ScriptedModel::new());
    /// let report = run.call(&Double(4)).label("tenant", "x").report().await?;
    /// assert_eq!(report.record.labels["tenant"], "x");
    /// # Ok::<(), llmnode::NodeError>(()) }).unwrap();
    /// ```
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.overrides().labels.insert(name.into(), value.into());
        self
    }

    /// Adds a field to the request, such as `("seed", 7)`.
    pub fn extra(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.overrides().extra.insert(field.into(), value.into());
        self
    }

    /// Adds a field to the request if it goes by this API: see [`Settings::extra_on`].
    pub fn extra_on(
        mut self,
        api: ApiKind,
        field: impl AsRef<str>,
        value: impl Into<Value>,
    ) -> Self {
        let settings = std::mem::take(self.overrides());
        *self.overrides() = settings.extra_on(api, field, value);
        self
    }

    /// Sets all settings at once, and drops those set so far.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.options.overrides = Some(Arc::new(settings));
        self
    }

    /// The same with settings that other calls have as well.
    pub(super) fn sharing(mut self, settings: Arc<Settings>) -> Self {
        self.options.overrides = Some(settings);
        self
    }

    /// Records the call, and all calls within it: `Recording` of the feature `page`
    /// shows it as a page.
    pub fn record(mut self, recording: &'r dyn RunRecorder) -> Self {
        self.options.rare().recorder = Some(recording);
        self
    }

    fn overrides(&mut self) -> &mut Settings {
        self.options.overrides()
    }

    /// Returns the record of the call beside its output.
    pub fn report(
        mut self,
    ) -> impl Future<Output = Result<CallReport<T>, NodeError>> + Send + Unpin + use<'r, T> {
        poll_fn(move |cx| self.poll_report(cx))
    }
}

impl<S: ?Sized> Cx<'_, S> {
    /// Calls another node on the same run and state. The call has its own record.
    /// What it spends also counts for the limits of this call and its node.
    pub fn call<'c, N, T>(&'c self, node: &'c N) -> Call<'c, T>
    where
        N: Exec<S, Output = T>,
    {
        let called_by = CalledBy::Node(&self.context);
        Call::new(self.context.core, called_by, self.state, node)
    }
}

impl<'r, T: Serialize> Call<'r, T> {
    /// Makes the call a turn of a conversation that a store keeps: `Chat` of the
    /// feature `chats` is one. The prompt stands behind the stored history, and the
    /// whole turn (prompt, rounds of tools, answer) is appended when the call
    /// succeeds, in one transaction.
    ///
    /// One call at a time has a conversation: it is claimed before the first
    /// request, so that another writer gets [`conflict`](Category::Conflict) before
    /// it pays anything. If the call fails, is dropped or dies with its process,
    /// the history stays as it was, and the store has the question and the rounds
    /// that were paid for. A call that pauses is kept with its pause;
    /// [`approve`](Self::approve) with the same conversation goes on, once in all
    /// processes.
    ///
    /// In a flow with a journal, a call that is repeated after a crash has the
    /// history that it had, and a turn that is there already is not appended again.
    ///
    /// A node with a field `#[node(history)]`, or one that asks no model itself, is
    /// a `config_error`.
    pub fn conversation(mut self, conversation: &'r dyn TurnStore) -> Self {
        self.options.rare().turn = Some(Turn::new(conversation));
        self.writer = Some(answer_text::<T>);
        self
    }
}

/// A text as it is, any other value as JSON.
fn answer_text<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    match serde_json::to_value(value)? {
        Value::String(text) => Ok(text),
        _ => serde_json::to_string(value),
    }
}

impl<T> Call<'_, T> {
    /// The answer is a summary, which quotes nothing but this.
    pub(crate) fn quoting(mut self, sources: Sources) -> Self {
        self.options.rare().sources = Some(Arc::new(sources));
        self
    }

    pub(super) fn poll_report(&mut self, cx: &mut Context<'_>) -> Poll<CallResult<T>> {
        let under_way = match &mut self.under_way {
            Some(under_way) => under_way,
            none => none.insert(self.begin.begin(Handover {
                options: std::mem::take(&mut self.options),
                writer: self.writer,
            })),
        };
        under_way.as_mut().poll(cx)
    }
}

impl<T> Future for Call<'_, T> {
    type Output = Result<T, NodeError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.poll_report(cx) {
            Poll::Ready(Ok(report)) => Poll::Ready(Ok(report.into_value())),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// The output of a call, and its record.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{NodeError, Run, ScriptedModel};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let run = Run::new(ScriptedModel::new().reply("seven").reply("7"));
/// let report = run.extract::<u8>("a week has seven days").retries(1).report().await?;
/// assert_eq!(report.value, 7);
/// assert_eq!(report.record.attempts.len(), 2);
/// println!("{}", report.record.usage()); // 2 requests, 93 tokens
///
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
#[non_exhaustive]
pub struct CallReport<T> {
    /// The node's output.
    pub value: T,
    /// Every attempt, with usage and times.
    pub record: Arc<CallRecord>,
    /// The usage of all attempts, with those of all calls within.
    pub total: Usage,
    pub(super) replayed: Replayed,
    /// The conversation without the answer: the history, the prompt, and the rounds
    /// of tools. Without instructions, examples and answers that were not accepted.
    /// [`history`](Self::history) has the answer as well.
    pub messages: Vec<Message>,
    pub(super) carried: Option<Arc<ProviderState>>,
    /// What was replaced in the conversation since it became too long, in the order
    /// in which it happened: see [`Compact`](crate::Compact). `messages` is what
    /// was sent in the end, and this has the messages as they were.
    pub compacted: Vec<Compacted>,
}

impl<T: Serialize> CallReport<T> {
    /// Returns the answer as a message, for the history of a chat: a text as it is,
    /// any other value as JSON, and what the provider wants back with it.
    ///
    /// # Errors
    /// The value's own error, if it cannot be written as JSON.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// # use llmnode::prompt::History;
    /// # fn example(report: llmnode::CallReport<String>, mut history: Vec<llmnode::Message>) -> Result<(), serde_json::Error> {
    /// history.push(llmnode::Message::user("And then?"));
    /// history.push(report.message()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn message(&self) -> Result<Message, serde_json::Error> {
        Ok(Message::assistant(answer_text(&self.value)?)
            .carrying(self.carried.clone())
            .counted(tokens(&self.record))
            .answering(sent(&self.record)))
    }

    /// Returns the whole conversation with the answer: the `#[node(history)]` of
    /// the next call. It can be stored as JSON.
    ///
    /// The answer has what the provider wants back with it, which a message written
    /// by hand lacks. A node that asks no model has its output alone.
    ///
    /// # Errors
    /// The value's own error, if it cannot be written as JSON. A text always can.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// use llmnode::{DynNode, Message, Run, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let run = Run::new(ScriptedModel::new().reply("Hello!").reply("At noon."));
    /// let node = DynNode::builder("chat").system_prompt("Be brief.").text().build()?;
    /// let history = run.call(&node.ask("Hi")).report().await?.history()?;
    /// let report = run.call(&node.history(history).ask("When?")).report().await?;
    /// assert_eq!(report.history()?.len(), 4);
    /// # Ok(())
    /// # }
    /// ```
    pub fn history(&self) -> Result<Vec<Message>, serde_json::Error> {
        let mut history = Vec::with_capacity(self.messages.len() + 1);
        // The newest answer alone is compared with.
        let earlier = self.messages.iter().cloned();
        history.extend(earlier.map(|message| message.answering(None)));
        history.push(self.message()?);
        Ok(history)
    }
}

/// The request of the answer: that of a next call is compared with it.
fn sent(record: &CallRecord) -> Option<Arc<SentPrompt>> {
    if record.used_fallback == Some(UsedFallback::Value) {
        return None;
    }
    record.attempts.last()?.sent.clone()
}

/// The tokens of the conversation with the answer. Thoughts are not sent again as
/// they were counted.
fn tokens(record: &CallRecord) -> Option<u64> {
    if record.used_fallback == Some(UsedFallback::Value) {
        return None;
    }
    let usage = record.attempts.last()?.usage?;
    let answer = usage
        .output?
        .saturating_sub(usage.reasoning.unwrap_or_default());
    Some(usage.input?.saturating_add(answer))
}

impl<T> CallReport<T> {
    /// Returns what the answers from a journal used when an earlier process asked
    /// for them, with those of all calls within. It is not part of `total`.
    pub fn replayed(&self) -> Usage {
        self.replayed.usage()
    }

    /// Returns what the output cost, in the unit of the run's prices: all attempts
    /// and the calls within, and what its answers from a journal cost when an
    /// earlier process asked for them. So a row of a resumed map has the same
    /// figure as one that was asked now.
    pub fn cost(&self) -> Cost {
        let mut cost = self.total.cost;
        cost += self.replayed.usage().cost;
        cost
    }
}

/// Compiled for every node: what does not need its types is in `start`.
fn typed<'a, 'r: 'a, S, N>(
    core: &'a RunCore,
    called_by: CalledBy<'a>,
    state: &'a S,
    node: &'a N,
    handover: Handover<'r, N::Output>,
) -> BoxFuture<'a, CallResult<N::Output>>
where
    S: ?Sized,
    N: Exec<S>,
{
    const { check_attempts::<S, N>() };
    // Made here, since a variable of the block would have a place in the future
    // beside those that it is made of.
    let mut node = TypedExec {
        called_node: CalledNode::new(node),
        state,
        handover,
        wants_report: true,
    };
    Box::pin(async move {
        let outcome = start(core, called_by.caller(), &mut node).await;
        with_value(outcome, node.called_node.value)
    })
}

const fn check_attempts<S: ?Sized, N: Exec<S>>() {
    assert!(
        !matches!(N::SETTINGS.attempts, Some(0)),
        "`attempts(0)` in a node's `SETTINGS`: it counts all executions of the node, the first included; write 1 or more"
    );
    assert!(
        N::FACTS.idempotent || !matches!(N::SETTINGS.attempts, Some(2..)),
        "`attempts` in the `SETTINGS` of a node that is not `idempotent`: it must not be executed again; leave one of them out"
    );
}

/// Apart from the future, which would get a flag for each part that may be moved out.
fn with_value<T>(outcome: CallResult<()>, value: Option<T>) -> CallResult<T> {
    match value {
        Some(value) => outcome.map(|report| report.of_value(value)),
        None => Err(ended_without_value(outcome)),
    }
}

fn ended_without_value(outcome: CallResult<()>) -> NodeError {
    match outcome {
        Ok(_) => without_value(),
        Err(error) => error,
    }
}

impl CallReport<()> {
    fn new(record: Arc<CallRecord>, account: Account) -> Self {
        let Account {
            total,
            replayed,
            messages,
            carried,
            compacted,
        } = account;
        CallReport {
            value: (),
            record,
            total,
            replayed,
            messages,
            carried,
            compacted,
        }
    }

    fn of_value<T>(self, value: T) -> CallReport<T> {
        CallReport {
            value,
            record: self.record,
            total: self.total,
            replayed: self.replayed,
            messages: self.messages,
            carried: self.carried,
            compacted: self.compacted,
        }
    }
}

impl<T> CallReport<T> {
    /// The value alone. The rest is dropped in a function that knows no type, since
    /// code that drops its parts would be compiled for every node.
    fn into_value(self) -> T {
        let rest = CallReport {
            value: (),
            record: self.record,
            total: self.total,
            replayed: self.replayed,
            messages: self.messages,
            carried: self.carried,
            compacted: self.compacted,
        };
        drop(rest);
        self.value
    }
}

/// A call succeeds only with a value.
fn without_value() -> NodeError {
    NodeError::new(Category::ExecError, "no value was given")
}

/// Runs a call, from its record to its report. Boxed, so that no node's future has
/// its code or its size.
///
/// 1. The node's name comes first: it is code of the program, and the record needs
///    it.
/// 2. The record begins (`scope`). From here on, the call is in the ledger, however
///    it ends.
/// 3. The node is executed. A panic in it, in its output or in its model becomes
///    the call's error.
/// 4. A conversation gets its turn while the record is still open: an answer that
///    cannot be appended is an error of this call.
/// 5. The record ends, and the report or the error has it.
fn start<'a, 'r: 'a>(
    core: &'a RunCore,
    mut caller: Caller<'a>,
    node: &'a mut dyn ErasedExec<'_, 'r>,
) -> BoxFuture<'a, CallResult<()>> {
    Box::pin(async move {
        let options = node.options();
        let origin = origin(&options);
        // In its place: another one would have its room in the future, too.
        caller = caller.recorded_by(options.recorder());
        let settings = options.overrides.as_deref().unwrap_or(EMPTY_SETTINGS);
        let named = named(core, node)?;
        if let Some(recorder) = caller.recorder {
            record_event(recorder, &RunEvent::Setup(&|| core.setup()));
        }
        let scope = CallGuard::begin(
            named,
            labels(core, &caller, settings),
            sinks(core),
            parent(&caller),
        );
        // Boxed, since few calls have one.
        let mut outcome = {
            // A streamed call already has a listener.
            let observed = match options.listener {
                None => Listener::observed(caller.flow(), &scope),
                Some(_) => None,
            };
            let listener = options.listener.as_deref().or(observed.as_deref());
            let extensions = CallExtensions {
                listener,
                turn: turn_of(&options),
                handoff: None,
                sources: sources_of(&options),
            };
            let continued = origin.as_deref();
            let execution = execution(
                (core, &caller, &extensions),
                continued,
                &scope,
                settings,
                &mut *node,
            );
            let span = execution_span(&caller, &scope);
            let outcome = catch_panic_of(pin!(execution.instrument(span))).await;
            outcome.unwrap_or_else(|panic_message| Err(panicked(&panic_message)))
        };
        if let Some(turn) = turn_of(&options) {
            let clock = &*core.clock;
            outcome = Box::pin(end_turn(turn, clock, &scope, node.answer(), outcome)).await;
        }
        report(&scope, node, outcome)
    })
}

/// Whoever shares a span with the call is in it already.
fn execution_span(caller: &Caller<'_>, scope: &CallGuard<'_>) -> Span {
    if caller.span.is_some() {
        Span::none()
    } else {
        scope.span().clone()
    }
}

/// Ends the record of the call, which its report or its error has.
fn report(
    scope: &CallGuard<'_>,
    node: &dyn ErasedExec<'_, '_>,
    outcome: Result<(), NodeError>,
) -> CallResult<()> {
    outcome.map_err(|error| ended(scope, error))?;
    let record = scope.end(None, None);
    let account = match node.wants_report() {
        true => Account::of(scope, &record),
        false => Account::default(),
    };
    Ok(CallReport::new(record, account))
}

#[expect(
    clippy::manual_async_fn,
    reason = "an `async fn` stores its arguments twice"
)]
fn execution<'r>(
    (core, caller, extensions): (&'r RunCore, &'r Caller<'r>, &'r CallExtensions<'r>),
    continued: Option<&'r Origin<'r>>,
    call: &'r CallGuard<'r>,
    settings: &'r Settings,
    node: &'r mut dyn ErasedExec<'_, '_>,
) -> impl Future<Output = Result<(), NodeError>> {
    async move {
        let &NodeFacts {
            idempotent,
            retries_itself,
            ..
        } = node.facts();
        let of_all = levels(core, settings, node);
        let limits = &limits(core, caller, call, of_all, node.limited())?;
        let context = CallContext {
            core,
            call,
            settings,
            limits,
            deadline: caller.deadline(),
            flow: caller.flow(),
            extensions: Some(extensions),
            attempt: AttemptInfo::new(0, 0),
            origin: continued.or(caller.origin()),
            item: caller.map_item(),
        };
        if !idempotent {
            // Whatever comes of it, it must not happen again: the map does not put
            // the item back, and the journal has its begin before anything of the
            // node runs.
            if let Some(item) = context.item {
                item.begin_what_happens_once();
            }
            record_call_begin(call).await?;
        }
        if extensions.turn.is_some() && !retries_itself {
            return Err(without_conversation());
        }
        if retries_itself {
            return node.execute(context).await.map_err(NodeError::of_execution);
        }
        let levels = levels(core, settings, node);
        exec_with_attempts(node, &context, levels).await
    }
}

/// The nearest first. Asked for twice, since to keep them takes room in the future of each call.
fn levels<'a, 'n: 'a>(
    core: &'a RunCore,
    settings: &'a Settings,
    node: &dyn ErasedExec<'n, '_>,
) -> [&'a Settings; 4] {
    [settings, &core.settings, node.settings(), &core.defaults]
}

/// Appends the turn of a call that succeeded, or keeps what one that failed has paid for.
async fn end_turn(
    turn: &Turn<'_>,
    clock: &dyn Clock,
    scope: &CallGuard<'_>,
    answer: Option<Result<String, serde_json::Error>>,
    outcome: Result<(), NodeError>,
) -> Result<(), NodeError> {
    let whole = match outcome {
        Ok(()) => conversation_with(scope, answer, turn.is_shorter()),
        Err(error) => Err(error),
    };
    let ended = match whole {
        Ok(messages) => turn.end(clock, Ok(messages)).await,
        Err(error) => turn.end(clock, Err(&error)).await.and(Err(error)),
    };
    if let Err(error) = &ended
        && error.category() != Category::Paused
        && let Some(recorder) = scope.recorder()
    {
        turn.put_back(recorder);
    }
    ended
}

fn conversation_with(
    scope: &CallGuard<'_>,
    answer: Option<Result<String, serde_json::Error>>,
    was_shorter: bool,
) -> Result<Vec<Message>, NodeError> {
    let text = match answer {
        Some(Ok(text)) => text,
        Some(Err(fault)) => {
            let why = format!("the answer cannot be kept in the conversation as JSON: {fault}");
            return Err(NodeError::new(Category::ConfigError, why));
        }
        None => return Err(without_value()),
    };
    let record = scope.so_far(None);
    // The newest answer alone is compared with.
    let earlier = scope.messages().into_iter();
    let mut messages: Vec<Message> = earlier.map(|message| message.answering(None)).collect();
    // Of a compacted conversation, the store has all messages, and the tokens are
    // those of the short one.
    let tokens = match was_shorter {
        true => None,
        false => tokens(&record),
    };
    let answer = Message::assistant(text)
        .carrying(scope.carried())
        .counted(tokens)
        .answering(sent(&record));
    messages.push(answer);
    Ok(messages)
}

fn sinks(core: &RunCore) -> Sinks<'_> {
    let RunCore {
        ledger,
        clock,
        hooks,
        ..
    } = core;
    Sinks {
        ledger,
        clock: &**clock,
        hooks,
        prices: &core.limits.prices,
    }
}

fn parent<'r>(caller: &Caller<'r>) -> Parent<'r> {
    let usage_sum = caller.flow().map(|flow| flow.usage_sum);
    let &Caller {
        at,
        item,
        put_back,
        recorder,
        span,
        ..
    } = caller;
    Parent {
        parent: caller.call(),
        usage_sum,
        at,
        item,
        put_back,
        recorder,
        span,
    }
}

fn labels(core: &RunCore, caller: &Caller<'_>, settings: &Settings) -> Labels {
    // An outer call's labels already contain the run's.
    let mut labels = match caller.call() {
        Some(call) => call.labels().clone(),
        None => core.settings.labels.clone(),
    };
    if !settings.labels.is_empty() {
        labels.extend(settings.labels.clone());
    }
    labels
}

fn named(core: &RunCore, node: &dyn ErasedExec<'_, '_>) -> Result<(NodeKey, Instant), NodeError> {
    let named = catch_panic(|| (node.key(), core.clock.now()));
    named.map_err(|panic_message| {
        let message = format!("the node's name or the run's clock panicked: {panic_message}");
        NodeError::new(Category::Panic, message)
    })
}

fn panicked(message: &str) -> NodeError {
    let message = format!("the node, its output or its model panicked: {message}");
    NodeError::new(Category::Panic, message)
}

fn ended(scope: &CallGuard<'_>, error: NodeError) -> NodeError {
    let record = scope.end(Some(error.category()), Some(&error));
    error.with_record_and_children(record, scope.children())
}

fn limits<'r>(
    core: &'r RunCore,
    caller: &Caller<'_>,
    scope: &CallGuard<'_>,
    levels: [&Settings; 4],
    node: LimitedNode,
) -> Result<CallLimits<'r>, NodeError> {
    // Finds endless recursion before the stack overflows.
    NodeError::check_nesting("calls", scope.depth, || scope.path())?;
    let mut limits = Limits::new();
    for level in levels.iter().filter(|level| !level.limits.is_empty()) {
        limits = limits.or(level.limits);
    }
    CallLimits::begin(
        scope.node(),
        node,
        limits,
        caller.limits(),
        &core.limits,
        &*core.clock,
    )
}

fn record_call_begin<'a>(scope: &'a CallGuard<'_>) -> BoxFuture<'a, Result<(), NodeError>> {
    Box::pin(async {
        let recorded = scope.record_begin().await;
        recorded.map_err(|fault| Failure::unrecorded(fault).into_error())
    })
}

impl<T> fmt::Debug for Call<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("settings", &self.options.overrides)
            .field("under_way", &self.under_way.is_some())
            .finish_non_exhaustive()
    }
}

impl_debug!([T] CallReport<T>: record);
