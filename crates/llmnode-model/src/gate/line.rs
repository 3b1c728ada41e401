//! The gate of a model, the line before it, and the tickets of those that entered.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::limits::RateLimits;
use super::place::{Place, Wait};
use super::state::State;
use crate::ids::CallId;
use crate::panics::lock;

/// The gate of an endpoint, a key and a model.
pub struct Gate {
    active: Arc<AtomicBool>,
    /// Of the state, so that it is read without a lock.
    closings: AtomicU64,
    state: Mutex<State>,
    changed: Notify,
}

impl Gate {
    pub(super) fn new(active: Arc<AtomicBool>) -> Self {
        Gate {
            active,
            closings: AtomicU64::new(0),
            state: Mutex::default(),
            changed: Notify::new(),
        }
    }

    /// Enters at once, if nothing holds requests back.
    pub fn enter(self: &Arc<Self>, now: Instant) -> Option<Ticket> {
        let is_free = lock(&self.state).is_free(now);
        is_free.then(|| Ticket::new(Arc::clone(self), now, false))
    }

    /// Takes a place at the end of the line.
    pub fn line_up(self: &Arc<Self>, now: Instant) -> Slot {
        let place = lock(&self.state).line_up(now);
        Slot::new(Arc::clone(self), place)
    }

    /// Returns a future that ends when the gate opens or closes after this call, or
    /// when an answer ends a row of failures.
    pub fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// Returns until when it is closed at least. `None`: it is open.
    pub fn closed_until(&self) -> Option<Instant> {
        lock(&self.state).closed_until()
    }

    /// Returns whether a rate limit closed it, and not an outage.
    pub fn is_limited(&self) -> bool {
        lock(&self.state).is_limited()
    }

    /// Returns how many requests in a row probed in vain.
    pub fn failed_probes(&self) -> u32 {
        lock(&self.state).failed_probes()
    }

    /// Returns how often it was closed, failed probes included.
    pub fn closings(&self) -> u64 {
        self.closings.load(Ordering::Relaxed)
    }

    /// Returns whether a request that entered at this time or later was answered.
    pub fn has_answered_since(&self, since: Instant) -> bool {
        lock(&self.state).has_answered_since(since)
    }

    /// Returns whether the last calls got no answer, too few of them for an outage,
    /// and no request that entered at this time or later was answered.
    /// [`changed`](Gate::changed) tells of each answer until then.
    pub fn may_be_down(&self, since: Instant) -> bool {
        lock(&self.state).may_be_down(since)
    }

    /// A request was answered while the gate was open, so that the time does not
    /// matter. `sent`: when it entered, if it did. Returns whether the gate is
    /// open: otherwise, nothing was noted.
    pub fn answered_while_open(&self, sent: Option<Instant>) -> bool {
        let state = &mut *lock(&self.state);
        if !state.is_open() {
            return false;
        }
        let was_failing = state.is_failing();
        state.count_answer(sent);
        if was_failing {
            self.changed.notify_waiters();
        }
        true
    }

    /// A request was answered, whatever the answer is worth. `sent`: when it entered, if it did.
    pub fn answered(&self, now: Instant, sent: Option<Instant>) {
        if lock(&self.state).answered(now, sent) {
            self.changed.notify_waiters();
        }
    }

    /// A request was refused by a rate limit. `asked`: the wait that the server
    /// asks for; `most`: the longest one that counts.
    pub fn refused(
        &self,
        now: Instant,
        sent: Option<Instant>,
        retry_after: Option<Duration>,
        most: Duration,
    ) {
        self.active.store(true, Ordering::Relaxed);
        let state = &mut *lock(&self.state);
        state.refused(now, sent, retry_after, most);
        self.closings.store(state.closings, Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    /// The limits in the headers of an answer slow the line down. `tokens`: those
    /// of the request and its answer.
    pub fn limited(&self, now: Instant, limits: RateLimits, tokens: Option<u64>) {
        lock(&self.state).limited(now, limits, tokens);
    }

    /// A request of this call got no answer. `unreached`: not even a connection.
    pub fn failed(&self, now: Instant, sent: Option<Instant>, call: CallId, unreached: bool) {
        self.active.store(true, Ordering::Relaxed);
        let state = &mut *lock(&self.state);
        if state.failed(now, sent, call, unreached) {
            self.closings.store(state.closings, Ordering::Relaxed);
            self.changed.notify_waiters();
        }
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("closed", &self.closed_until().is_some())
            .finish_non_exhaustive()
    }
}

/// A place in the line. Dropped before it entered, it makes room.
pub struct Slot {
    gate: Arc<Gate>,
    place: Place,
    entered: bool,
}

/// What a request in line does next.
pub enum Entry {
    /// It is sent.
    Enter(Ticket),
    /// It waits until then, and asks again.
    At(Instant),
    /// Another one probes: it waits for that, at most until then, and asks again.
    Probed(Instant),
}

impl Slot {
    fn new(gate: Arc<Gate>, place: Place) -> Self {
        Slot {
            gate,
            place,
            entered: false,
        }
    }

    /// Asks whether the request may be sent.
    pub fn enter(&mut self, now: Instant) -> Entry {
        match lock(&self.gate.state).enter(&self.place, now) {
            Err(Wait::Until(time)) => Entry::At(time),
            Err(Wait::Probed(time)) => Entry::Probed(time),
            Ok(probes) => {
                self.entered = true;
                Entry::Enter(Ticket::new(Arc::clone(&self.gate), now, probes))
            }
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if !self.entered {
            lock(&self.gate.state).leave(&self.place);
        }
    }
}

/// A request that entered. Dropped, a probe makes room for the next one.
pub struct Ticket {
    gate: Arc<Gate>,
    sent: Instant,
    probes: bool,
}

impl Ticket {
    fn new(gate: Arc<Gate>, sent: Instant, probes: bool) -> Self {
        Ticket { gate, sent, probes }
    }

    /// Returns when it entered.
    pub fn sent(&self) -> Instant {
        self.sent
    }

    /// Returns whether it is one of this gate.
    pub fn is_of(&self, gate: &Arc<Gate>) -> bool {
        Arc::ptr_eq(&self.gate, gate)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // Whoever reported its end before has moved the gate: nothing probes any more.
        if self.probes && lock(&self.gate.state).probe_dropped(self.sent) {
            self.gate.changed.notify_waiters();
        }
    }
}
