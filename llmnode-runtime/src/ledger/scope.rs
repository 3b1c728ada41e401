//! The guards that commit to the ledger on every way out of a call and of an attempt.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::book::{Ledger, NodeKey};
use super::estimate::Estimate;
use super::id::{AttemptId, CallId};
use super::record::{AttemptKind, AttemptRecord, CallRecord, Degraded};
use crate::category::Category;
use crate::clock::Clock;
use crate::node::Node;

/// How many of the newest attempts of a call keep the answer and its violations.
const ANSWERS: usize = 8;

/// One call under way. Dropped before its end, it leaves a record that says so.
pub(crate) struct CallScope<'r> {
    ledger: &'r Ledger,
    clock: &'r dyn Clock,
    node: NodeKey,
    id: CallId,
    parent: Option<CallId>,
    started: Instant,
    state: Mutex<State>,
}

struct State {
    /// How many were begun.
    begun: u32,
    /// Those that have ended.
    attempts: Vec<AttemptRecord>,
    degraded: Option<Degraded>,
    /// Up to here the time is in the book.
    booked: Instant,
    ended: bool,
}

impl State {
    fn begin_attempt(&mut self) -> u32 {
        let index = self.begun;
        self.begun = index.saturating_add(1);
        index
    }

    /// The time since the last booking. Attempts side by side may come here in another order than they ended.
    fn book_until(&mut self, now: Instant) -> Duration {
        let busy = now.saturating_duration_since(self.booked);
        self.booked = self.booked.max(now);
        busy
    }
}

impl<'r> CallScope<'r> {
    pub(crate) fn begin<N: Node>(
        node: &N,
        ledger: &'r Ledger,
        clock: &'r dyn Clock,
        parent: Option<CallId>,
    ) -> Self {
        let (node, started) = (NodeKey::of(node), clock.now());
        let id = ledger.begin_call(&node);
        let state = State { begun: 0, attempts: Vec::new(), degraded: None, booked: started, ended: false };
        CallScope { ledger, clock, node, id, parent, started, state: Mutex::new(state) }
    }

    pub(crate) fn id(&self) -> CallId {
        self.id
    }

    pub(crate) fn node(&self) -> &Cow<'static, str> {
        &self.node.name
    }

    /// Begins an attempt: from now on it is in the book, whatever happens.
    pub(crate) fn attempt(
        &self,
        kind: AttemptKind,
        wait: Duration,
        model: Option<String>,
    ) -> OpenAttempt<'_> {
        let id = self.id.attempt(self.lock().begin_attempt());
        let record = Some(AttemptRecord::new(id, kind, wait, model));
        OpenAttempt { call: self, id, started: self.clock.now(), record }
    }

    /// Ends the call, and gives its record.
    pub(crate) fn end(&self, category: Option<Category>) -> Arc<CallRecord> {
        let now = self.clock.now();
        let mut state = self.lock();
        state.ended = true;
        let attempts = std::mem::take(&mut state.attempts);
        let record = Arc::new(self.record(category, attempts, state.degraded, now));
        let busy = state.book_until(now);
        self.ledger.end_call(&self.node, busy, Arc::clone(&record));
        record
    }

    /// Notes that what follows takes the place of the answer that was asked for first.
    pub(crate) fn degrade(&self, degraded: Degraded) {
        self.lock().degraded = Some(degraded);
    }

    /// The record as it would be if the call ended now with this failure.
    pub(crate) fn so_far(&self, category: Category) -> Arc<CallRecord> {
        let attempts = self.lock().attempts.clone();
        Arc::new(self.record(Some(category), attempts, None, self.clock.now()))
    }

    fn record(
        &self,
        category: Option<Category>,
        attempts: Vec<AttemptRecord>,
        degraded: Option<Degraded>,
        now: Instant,
    ) -> CallRecord {
        CallRecord {
            id: self.id,
            parent: self.parent,
            node: self.node.name.clone(),
            category,
            // A call that failed all the same has no output.
            degraded: degraded.filter(|_| category.is_none()),
            attempts,
            elapsed: now.saturating_duration_since(self.started),
        }
    }

    fn commit(&self, record: AttemptRecord) {
        tracing::debug!(
            target: "llmnode::attempt",
            node = &*self.node.name,
            id = %record.id,
            kind = ?record.kind,
            category = record.category.map(Category::as_str),
            model = record.model,
            request_id = record.request_id,
            tokens = record.usage.and_then(|usage| usage.total()),
            elapsed = ?record.elapsed,
        );
        let now = self.clock.now();
        let mut state = self.lock();
        let busy = state.book_until(now);
        self.ledger.add_attempt(&self.node, record.usage.as_ref(), record.estimate, busy);
        state.attempts.push(record);
        // However often a call tries, its record stays small.
        if let Some(old) = state.attempts.len().checked_sub(ANSWERS + 1) {
            state.attempts[old].forget_content();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CallScope<'_> {
    fn drop(&mut self) {
        if !self.lock().ended {
            self.end(Some(unfinished()));
        }
    }
}

/// One attempt under way. Dropped before its end, it is committed with what was known by then.
pub(crate) struct OpenAttempt<'c> {
    call: &'c CallScope<'c>,
    id: AttemptId,
    started: Instant,
    record: Option<AttemptRecord>,
}

impl OpenAttempt<'_> {
    pub(crate) fn id(&self) -> AttemptId {
        self.id
    }

    /// Writes down that the request is this many tokens long, by its characters.
    pub(crate) fn estimate_prompt(&mut self, input: u64) {
        self.note(|record| record.estimate = Some(Estimate { input, output: None }));
    }

    /// Writes down what is known.
    pub(crate) fn note(&mut self, note: impl FnOnce(&mut AttemptRecord)) {
        if let Some(record) = &mut self.record {
            note(record);
        }
    }

    /// Commits the attempt.
    pub(crate) fn commit(mut self, category: Option<Category>) {
        self.close(category);
    }

    /// Forgets the attempt: no request was begun.
    pub(crate) fn forget(mut self) {
        self.record = None;
    }

    fn close(&mut self, category: Option<Category>) {
        if let Some(mut record) = self.record.take() {
            record.category = category;
            if record.reported() {
                record.estimate = None;
            }
            record.elapsed = self.call.clock.now().saturating_duration_since(self.started);
            self.call.commit(record);
        }
    }
}

impl Drop for OpenAttempt<'_> {
    fn drop(&mut self) {
        self.close(Some(unfinished()));
    }
}

/// Why a guard is dropped before its end.
fn unfinished() -> Category {
    if std::thread::panicking() { Category::Panic } else { Category::Cancelled }
}
