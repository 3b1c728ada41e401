//! The guard that commits a call to the ledger, however it ends.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Display;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use llmnode_model::internal::{catch_panic, lock};
use llmnode_model::{AttemptId, BoxError, CallId, Category, Message, ProviderState};
use llmnode_reader::text::one_line;
use tracing::Span;

use super::compaction::Compacted;
use super::events::{CallInfo, RunEvent, RunRecorder, record};
use super::hooks::Hooks;
use super::record::{AttemptRecord, CallRecord, FailedTry, Labels, ToolRecord, UsedFallback};
use super::recorder::Recorder;
use super::spans::CallSpan;
use super::store::{Ledger, NodeKey, Slot};
use super::usage::{Replayed, Usage};
use super::usage_sum::UsageSum;
use crate::clock::Clock;
use crate::position::{Position, PositionExt};
use crate::prices::Prices;

/// How many of the last answers keep their texts. This bound and the next two keep
/// a record small however long a call runs.
const ANSWERS: usize = 8;
/// How many of the last calls within it a call keeps.
const CALLS: usize = 64;
/// How many of the last failed executions a record has.
const FAILED_TRIES: usize = 64;

/// A call that runs. Recorded as cancelled if dropped before its end.
pub(crate) struct CallGuard<'r> {
    ledger: &'r Ledger,
    clock: &'r dyn Clock,
    hooks: &'r Hooks,
    pub(super) prices: &'r Prices,
    labels: Labels,
    span: CallSpan,
    node: NodeKey,
    slot: Slot,
    pub(crate) id: CallId,
    parent: Option<&'r CallGuard<'r>>,
    /// How many calls are around it.
    pub(crate) depth: usize,
    /// Sums up the attempts of a flow or a map, beside the ledger.
    usage_sum: Option<&'r UsageSum<'r>>,
    /// The step of a flow that this call is, and the number of that flow. `None`:
    /// it is within a step, or in no flow.
    at: Option<(&'r Position, u64)>,
    /// Its index in a map.
    item: Option<u32>,
    /// How often a map has put it back to the end of its queue.
    put_back: u32,
    recorder: Option<&'r dyn RunRecorder>,
    /// Whether anybody makes a recording of this call or one around it.
    is_recorded: bool,
    started: Instant,
    started_at: SystemTime,
    state: Mutex<State>,
}

struct State {
    /// How many attempts have begun; it numbers the next one.
    begun: u32,
    history: CallHistory,
    /// The conversation, for the report of the call.
    messages: Vec<Message>,
    carried: Option<Arc<ProviderState>>,
    /// What was replaced in it, for the report of the call.
    compacted: Vec<Compacted>,
    /// When the current execution of a node without a model began.
    try_began: Instant,
    used_fallback: Option<UsedFallback>,
    /// `None`: no call ended within this one.
    children: Option<Box<ChildCalls>>,
    /// Up to when the time of this call was added to its node's.
    accounted_until: Instant,
    ended: bool,
}

impl State {
    fn new(started: Instant) -> Self {
        State {
            begun: 0,
            history: CallHistory::default(),
            messages: Vec::new(),
            compacted: Vec::new(),
            carried: None,
            try_began: started,
            used_fallback: None,
            children: None,
            accounted_until: started,
            ended: false,
        }
    }
}

/// What the record of the call will have.
#[derive(Clone, Default)]
struct CallHistory {
    attempts: Vec<AttemptRecord>,
    failed_tries: Vec<FailedTry>,
    /// Tools that were executed after a pause, before the first attempt.
    resumed_tools: Vec<ToolRecord>,
    changed_since_pause: Vec<String>,
    replayed: ReplayedAnswers,
}

/// Answers that came from a journal in place of a model.
#[derive(Clone, Default)]
struct ReplayedAnswers {
    count: u32,
    sum: Replayed,
}

/// The calls that ended within a call, with those within them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChildCalls {
    pub(crate) calls: VecDeque<Arc<CallRecord>>,
    pub(crate) usage: Usage,
    pub(crate) replayed: Replayed,
}

impl ChildCalls {
    fn add(&mut self, record: &Arc<CallRecord>, within: Option<Box<ChildCalls>>) {
        self.usage.merge(&record.usage());
        self.replayed.merge(&record.replayed_sum);
        if let Some(within) = within {
            self.usage.merge(&within.usage);
            self.replayed.merge(&within.replayed);
            self.calls.extend(within.calls);
        }
        self.calls.push_back(Arc::clone(record));
        self.calls.drain(..self.calls.len().saturating_sub(CALLS));
    }
}

impl State {
    fn begin_attempt(&mut self) -> u32 {
        let index = self.begun;
        self.begun = index.saturating_add(1);
        index
    }

    /// Attempts that run concurrently may arrive here in another order than they ended.
    fn take_busy_time(&mut self, now: Instant) -> Duration {
        let busy = now.saturating_duration_since(self.accounted_until);
        self.accounted_until = self.accounted_until.max(now);
        busy
    }
}

/// What a call reports to and counts by, for all calls of a run.
pub(crate) struct Sinks<'r> {
    pub(crate) ledger: &'r Ledger,
    pub(crate) clock: &'r dyn Clock,
    pub(crate) hooks: &'r Hooks,
    pub(crate) prices: &'r Prices,
}

/// Where a call is: within which other call, at which step of a flow, at which index of a map.
pub(crate) struct Parent<'r> {
    pub(crate) parent: Option<&'r CallGuard<'r>>,
    pub(crate) usage_sum: Option<&'r UsageSum<'r>>,
    pub(crate) at: Option<(&'r Position, u64)>,
    pub(crate) item: Option<u32>,
    pub(crate) put_back: u32,
    pub(crate) recorder: Option<&'r dyn RunRecorder>,
    /// Set if the step or tool is nothing but this call, and shares its span.
    pub(crate) span: Option<&'r Span>,
}

impl<'r> CallGuard<'r> {
    pub(crate) fn begin(
        (node, started): (NodeKey, Instant),
        labels: Labels,
        sinks: Sinks<'r>,
        within: Parent<'r>,
    ) -> Self {
        let Sinks {
            ledger,
            clock,
            hooks,
            prices,
        } = sinks;
        let Parent {
            parent,
            usage_sum,
            at,
            item,
            put_back,
            recorder,
            span,
        } = within;
        let (id, slot) = ledger.begin_call(&node);
        let span = CallSpan::begin(
            &node.name,
            (id, parent.map(|parent| parent.id)),
            &labels,
            span,
        );
        let call = CallGuard {
            ledger,
            clock,
            hooks,
            prices,
            labels,
            span,
            node,
            slot,
            id,
            parent,
            depth: parent.map_or(0, |parent| parent.depth + 1),
            usage_sum,
            at,
            item,
            put_back,
            recorder,
            is_recorded: recorder.is_some() || parent.is_some_and(CallGuard::is_recorded),
            started,
            started_at: SystemTime::now(),
            state: Mutex::new(State::new(started)),
        };
        if call.is_recorded {
            call.emit(&RunEvent::CallBegan {
                call: call.info(),
                flow: call.flow(),
                at: &|| call.position(),
                item,
                started: call.started_at,
            });
        }
        call
    }

    /// This call, then those around it.
    fn with_parents(&self) -> impl Iterator<Item = &CallGuard<'r>> {
        std::iter::successors(Some(self), |call| call.parent)
    }

    /// Whether anybody makes a recording of this call or one around it.
    pub(crate) fn is_recorded(&self) -> bool {
        self.is_recorded
    }

    pub(crate) fn is_recorded_by(&self, recorder: &dyn RunRecorder) -> bool {
        self.with_parents()
            .filter_map(|call| call.recorder)
            .any(|other| std::ptr::addr_eq(other, recorder))
    }

    /// Tells all who listen, in the order of `events.rs`. No lock is held, since a
    /// hook may read the ledger.
    pub(crate) fn emit(&self, event: &RunEvent<'_>) {
        self.hooks.notify_journal(event);
        if self.is_recorded {
            self.notify_recorders(event);
        }
        self.hooks.notify_hooks(event);
    }

    pub(crate) fn notify_recorders(&self, event: &RunEvent<'_>) {
        self.with_parents()
            .filter_map(|call| call.recorder)
            .for_each(|recorder| record(recorder, event));
    }

    /// The number of the flow that this call is a step of, or is within.
    fn flow(&self) -> Option<u64> {
        self.with_parents()
            .find_map(|call| call.at)
            .map(|(_, flow)| flow)
            .filter(|flow| *flow > 0)
    }

    /// For a flow within a node, this is below the step of that node.
    fn position(&self) -> Option<Position> {
        let Some((at, _)) = self.at else {
            return self.parent?.position();
        };
        let around = self.parent.and_then(CallGuard::position_within);
        Some(around.map_or_else(|| at.clone(), |around| around.below(at.labels())))
    }

    /// The prefix of positions in flows that this call starts: its step, and the calls below it.
    pub(crate) fn position_within(&self) -> Option<Position> {
        let calls = self
            .with_parents()
            .take_while(|call| call.at.is_none())
            .map(Self::observed_name);
        let mut calls: Vec<String> = calls.collect();
        calls.reverse();
        Some(self.position()?.below(calls.iter().map(String::as_str)))
    }

    /// The machine's time at a moment of the run's clock, by when the call began on both.
    pub(crate) fn time_of_day(&self, moment: Instant) -> SystemTime {
        let since = moment.saturating_duration_since(self.started);
        self.started_at
            .checked_add(since)
            .unwrap_or(self.started_at)
    }

    /// If the clock panics, time stops: drop guards read it too, and a second panic
    /// would abort the program.
    pub(crate) fn now(&self) -> Instant {
        catch_panic(|| self.clock.now()).unwrap_or(self.started)
    }

    pub(crate) fn clock(&self) -> &'r dyn Clock {
        self.clock
    }

    pub(crate) fn labels(&self) -> &Labels {
        &self.labels
    }

    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    pub(crate) fn span(&self) -> &Span {
        self.span.span()
    }

    pub(crate) fn mark_agent(&self) {
        self.span.mark_agent(&self.node.name);
    }

    pub(crate) fn node(&self) -> &Cow<'static, str> {
        &self.node.name
    }

    pub(super) fn next_attempt(&self) -> AttemptId {
        self.id.attempt(lock(&self.state).begin_attempt())
    }

    /// Tells the journal that a node is about to be executed, and waits until that is written.
    pub(crate) async fn record_begin(&self) -> Result<(), BoxError> {
        self.emit(&RunEvent::ExecBegins { call: self.info() });
        self.flush().await
    }

    /// Waits until what has happened so far survives a crash.
    pub(crate) async fn flush(&self) -> Result<(), BoxError> {
        self.hooks.flush().await
    }

    pub(crate) fn recorder(&self) -> Option<&dyn Recorder> {
        self.hooks.recorder()
    }

    pub(crate) fn info(&self) -> CallInfo<'_> {
        CallInfo {
            id: self.id,
            parent: self.parent_id(),
            node: &self.node.name,
            path: &self.node.path,
            labels: &self.labels,
        }
    }

    /// Notes a failed execution of a node without a model. Of many, the last ones are kept.
    pub(crate) fn failed(&self, number: u32, wait: Duration, category: Category, message: &str) {
        let now = self.now();
        let message = one_line(message, 1000);
        tracing::debug!(target: "llmnode::call", node = &*self.node.name, call = %self.id, number, category = category.as_str(), "a try failed");
        let mut state = lock(&self.state);
        let elapsed = now.saturating_duration_since(state.try_began);
        if state.history.failed_tries.len() == FAILED_TRIES {
            state.history.failed_tries.remove(0);
        }
        state.history.failed_tries.push(FailedTry {
            number,
            category,
            message,
            wait,
            elapsed,
        });
    }

    pub(crate) fn begin_retry(&self) {
        let now = self.now();
        lock(&self.state).try_began = now;
    }

    /// Ends the call: the record is committed, and then told to all who listen.
    pub(crate) fn end(
        &self,
        category: Option<Category>,
        error: Option<&dyn Display>,
    ) -> Arc<CallRecord> {
        let record = self.commit_call(category);
        self.span.end(&record);
        self.emit(&RunEvent::CallEnded {
            call: self.info(),
            record: &record,
            error,
        });
        record
    }

    /// Puts the record into the ledger, and what the call and those within it spent
    /// into the call around it.
    ///
    /// No two states are locked at once: this one is let go before that of the call
    /// around it is taken.
    fn commit_call(&self, category: Option<Category>) -> Arc<CallRecord> {
        let now = self.now();
        let mut state = lock(&self.state);
        state.ended = true;
        let history = std::mem::take(&mut state.history);
        let record = self.record(category, history, state.used_fallback, now);
        let busy = state.take_busy_time(now);
        self.ledger.end_call(self.slot, busy, Arc::clone(&record));
        let children = self.parent.map(|parent| (parent, state.children.clone()));
        drop(state);
        if let Some((parent, children)) = children {
            lock(&parent.state)
                .children
                .get_or_insert_default()
                .add(&record, children);
        }
        record
    }

    fn parent_id(&self) -> Option<CallId> {
        self.parent.map(|parent| parent.id)
    }

    /// The names of the calls around it and its own, outermost first.
    pub(crate) fn path(&self) -> Vec<&str> {
        let calls = std::iter::successors(Some(self), |call| call.parent);
        let mut names: Vec<_> = calls.map(|call| &*call.node.name).collect();
        names.reverse();
        names
    }

    /// The same with the index in a map, as people see it.
    pub(crate) fn observed_path(&self) -> Vec<String> {
        let mut names = self
            .parent
            .map(CallGuard::observed_path)
            .unwrap_or_default();
        names.push(self.observed_name());
        names
    }

    fn observed_name(&self) -> String {
        match self.item {
            Some(item) => format!("{}[{item}]", self.node.name),
            None => self.node.name.clone().into_owned(),
        }
    }

    pub(crate) fn is_inside_node_type(&self, path: &str) -> bool {
        std::iter::successors(Some(self), |call| call.parent).any(|call| call.node.path == path)
    }

    /// Completes the record of a tool, counted from the last one back.
    pub(crate) fn tool_ended(&self, back: usize, ended: impl FnOnce(&mut ToolRecord)) {
        let mut state = lock(&self.state);
        let CallHistory {
            attempts,
            resumed_tools,
            ..
        } = &mut state.history;
        let tools = attempts
            .last_mut()
            .map_or(resumed_tools, |attempt| &mut attempt.tools);
        if let Some(record) = tools.iter_mut().nth_back(back) {
            ended(record);
        }
    }

    pub(crate) fn add_replayed_tools(&self, tools: impl IntoIterator<Item = ToolRecord>) {
        lock(&self.state).history.resumed_tools.extend(tools);
    }

    pub(crate) fn changed_since_pause(&self, changes: Vec<String>) {
        if !changes.is_empty() {
            tracing::warn!(target: "llmnode::call", node = &*self.node.name, call = %self.id, changes = changes.join(", "), "goes on after a pause, and is not what it was");
        }
        lock(&self.state).history.changed_since_pause = changes;
    }

    pub(crate) fn set_messages(&self, messages: Vec<Message>) {
        lock(&self.state).messages = messages;
    }

    pub(crate) fn set_compacted(&self, compacted: Vec<Compacted>) {
        lock(&self.state).compacted = compacted;
    }

    pub(crate) fn take_compacted(&self) -> Vec<Compacted> {
        std::mem::take(&mut lock(&self.state).compacted)
    }

    pub(crate) fn set_carried(&self, carried: Option<Arc<ProviderState>>) {
        lock(&self.state).carried = carried;
    }

    pub(crate) fn take_result(
        &self,
    ) -> (Vec<Message>, Option<Arc<ProviderState>>, Usage, Replayed) {
        let mut state = lock(&self.state);
        let children = state
            .children
            .as_deref()
            .map(|all| (all.usage, all.replayed.clone()));
        let (usage, replayed) = children.unwrap_or_default();
        (
            std::mem::take(&mut state.messages),
            state.carried.take(),
            usage,
            replayed,
        )
    }

    /// The conversation so far, and all tools that were executed in it. What was
    /// left out of it or summed up stands before it, as it was: so the first result
    /// of a call is what its tool returned.
    pub(crate) fn tool_conversation(&self) -> (Vec<Message>, Vec<ToolRecord>) {
        let state = lock(&self.state);
        let history = &state.history;
        let mut tools = history.resumed_tools.clone();
        for attempt in &history.attempts {
            tools.extend(attempt.tools.iter().cloned());
        }
        let replaced = state.compacted.iter().flat_map(|one| &one.replaced);
        let mut messages: Vec<Message> = replaced
            .flat_map(|replaced| replaced.messages.iter().cloned())
            .collect();
        messages.extend(state.messages.iter().cloned());
        (messages, tools)
    }

    /// Notes an answer that came from the journal, with what it had cost. `None`:
    /// the journal does not have the usage.
    pub(crate) fn replayed(&self, usage: Option<Box<Usage>>) {
        let usage = usage.map_or_else(Usage::unreported, |usage| *usage);
        let replayed = &mut lock(&self.state).history.replayed;
        replayed.count += 1;
        replayed.sum.add(&usage);
    }

    pub(crate) fn children(&self) -> ChildCalls {
        lock(&self.state)
            .children
            .as_deref()
            .cloned()
            .unwrap_or_default()
    }

    pub(crate) fn set_used_fallback(&self, used_fallback: UsedFallback) {
        lock(&self.state).used_fallback = Some(used_fallback);
    }

    /// The conversation without its answer, and what the provider put beside that,
    /// as far as they are known.
    pub(crate) fn messages(&self) -> Vec<Message> {
        lock(&self.state).messages.clone()
    }

    pub(crate) fn carried(&self) -> Option<Arc<ProviderState>> {
        lock(&self.state).carried.clone()
    }

    /// `None`: the call has not failed.
    pub(crate) fn so_far(&self, category: impl Into<Option<Category>>) -> Arc<CallRecord> {
        let category = category.into();
        let state = lock(&self.state);
        let history = state.history.clone();
        let used_fallback = state.used_fallback.filter(|_| category.is_none());
        drop(state);
        self.record(category, history, used_fallback, self.now())
    }

    fn record(
        &self,
        category: Option<Category>,
        history: CallHistory,
        used_fallback: Option<UsedFallback>,
        now: Instant,
    ) -> Arc<CallRecord> {
        let CallHistory {
            attempts,
            failed_tries,
            resumed_tools,
            changed_since_pause,
            replayed:
                ReplayedAnswers {
                    count: replayed,
                    sum: replayed_sum,
                },
        } = history;
        Arc::new(CallRecord {
            id: self.id,
            parent: self.parent_id(),
            node: self.node.name.clone(),
            at: self.position(),
            item: self.item,
            put_back: self.put_back,
            labels: self.labels.clone(),
            started: self.started_at,
            category,
            // A call that failed despite a fallback has no output.
            used_fallback: used_fallback.filter(|_| category.is_none()),
            attempts,
            failed_tries,
            resumed_tools,
            changed_since_pause,
            replayed,
            replayed_sum,
            elapsed: now.saturating_duration_since(self.started),
        })
    }

    /// Puts the record of an attempt into the ledger, tells all who listen, and
    /// keeps it for the record of the call.
    pub(super) fn commit(&self, record: AttemptRecord, continues: bool) {
        let now = self.now();
        let busy = lock(&self.state).take_busy_time(now);
        self.ledger.add_attempt(self.slot, &record, busy);
        if let Some(usage_sum) = self.usage_sum {
            usage_sum.add(&record);
        }
        self.emit(&RunEvent::AttemptEnded {
            call: self.info(),
            attempt: &record,
            continues,
        });
        let mut state = lock(&self.state);
        // `push` would make room for four, but most calls make one attempt.
        state.history.attempts.reserve_exact(1);
        state.history.attempts.push(record);
        if let Some(old) = state.history.attempts.len().checked_sub(ANSWERS + 1) {
            state.history.attempts[old].forget_content();
        }
    }
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        if !lock(&self.state).ended {
            self.end(Some(Category::Cancelled), None);
        }
    }
}
