//! One item of a map: what its calls met at the gates, and whether it is put back
//! after it failed.
//!
//! An item is asked by one call after the other, until one of them has an outcome
//! that stays. A call that failed because of a rate limit or an outage is no such
//! outcome: the item waits for the gate and is asked again, by a call of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use llmnode_model::gate::{Gate, Ticket};
use llmnode_model::internal::lock;
use llmnode_model::{Category, Group};

use super::map_control::MapControl;
use crate::error::NodeError;
use crate::prompt::EarlyValue;

const BYTES_OF_A_TOKEN: usize = 4;

/// An item that is refused so often while others are answered fails: its request
/// alone may be above the limit.
const MOST_OVERTAKEN: u32 = 10;
/// The same for one that gets no answer: that others do says that it is no outage.
const MOST_OVERTAKEN_UNANSWERED: u32 = 1;

pub(crate) struct MapItem<'r> {
    pub(super) control: &'r MapControl,
    /// The item of a map around this one.
    around: Option<&'r MapItem<'r>>,
    /// A tool began, or a node that must not be executed again.
    has_begun: AtomicBool,
    state: Mutex<ItemState>,
}

#[derive(Default)]
struct ItemState {
    /// The last gate that the call met.
    met: Option<MetGate>,
    /// Set while the call waits at the gate: a deadline may pass meanwhile.
    is_in_line: bool,
    /// Of the item itself, which entered before its call began.
    ticket: Option<Ticket>,
    conversations: Vec<Arc<str>>,
    put_back: u32,
    /// When its requests began to fail. Set anew whenever it is overtaken.
    failing_since: Option<Instant>,
    /// How often a request of another item, sent after that, was answered while its
    /// own still failed.
    overtaken: u32,
}

/// A call of an item that failed.
pub(super) struct FailedCall<'e> {
    pub(super) error: &'e NodeError,
    /// Of what the map stands in.
    pub(super) outer_end: Option<Instant>,
    /// What has begun is not begun again.
    pub(super) continues: bool,
}

struct MetGate {
    gate: Arc<Gate>,
    since: Instant,
    /// How often it had been closed before.
    closings: u64,
}

impl<'r> MapItem<'r> {
    pub(super) fn new(control: &'r MapControl, around: Option<&'r MapItem<'r>>) -> Self {
        let has_begun = AtomicBool::new(false);
        MapItem {
            control,
            around,
            has_begun,
            state: Mutex::default(),
        }
    }

    /// Whether it is one of so many that what they share is worth keeping in the provider's cache.
    pub(super) fn is_of_many(&self) -> bool {
        self.control.has_many() || self.around.is_some_and(MapItem::is_of_many)
    }

    /// A request of it is about to be sent. `keeps`: whether what it shares with
    /// those of other items is kept.
    pub(super) fn asks(&self, keeps: &dyn Fn() -> bool) {
        self.control.warm_up().asks(keeps);
        if let Some(around) = self.around {
            around.asks(keeps);
        }
    }

    /// What its request has written to the provider's cache can be read.
    pub(super) fn is_answered(&self) {
        self.control.warm_up().end();
        if let Some(around) = self.around {
            around.is_answered();
        }
    }

    /// In a large map, says once where the variable would better stand.
    pub(super) fn suggest_order(&self, early: EarlyValue) {
        if !self.is_of_many() || !self.control.suggests_first() {
            return;
        }
        let EarlyValue {
            name,
            fixed_bytes,
            all_bytes,
        } = early;
        tracing::debug!(
            target: "llmnode::cache",
            "move {{{name}}} behind it: {} of {} tokens could be cached",
            fixed_bytes / BYTES_OF_A_TOKEN,
            all_bytes / BYTES_OF_A_TOKEN
        );
    }

    /// From now on the item is not put back.
    pub(crate) fn begin_what_happens_once(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
        if let Some(around) = self.around {
            around.begin_what_happens_once();
        }
    }

    /// Of its last call, or else the last one that held a call of the map.
    pub(super) fn gate(&self) -> Option<Arc<Gate>> {
        self.own_gate().or_else(|| self.control.gate())
    }

    /// It passed before its call begins.
    pub(super) fn keep(&self, ticket: Ticket) {
        lock(&self.state).ticket = Some(ticket);
    }

    fn may_be_put_back(&self, failed: &FailedCall<'_>) -> bool {
        let has_begun = !failed.continues && self.has_begun.load(Ordering::Relaxed);
        let is_transport = failed.error.category().group() == Group::Transport;
        let is_too_late = failed
            .outer_end
            .is_some_and(|end| self.control.clock().now() >= end);
        is_transport && !is_too_late && !has_begun && !self.control.has_ended()
    }

    /// The gate of its last call, and since when the call asked there.
    fn gate_that_may_be_down(&self) -> Option<(Arc<Gate>, Instant)> {
        if self.control.batches().is_some() {
            return None;
        }
        let state = lock(&self.state);
        let met = state.met.as_ref()?;
        met.gate
            .may_be_down(met.since)
            .then(|| (Arc::clone(&met.gate), met.since))
    }

    fn own_gate(&self) -> Option<Arc<Gate>> {
        lock(&self.state)
            .met
            .as_ref()
            .map(|met| Arc::clone(&met.gate))
    }

    pub(super) fn begin_call(&self) {
        lock(&self.state).met = None;
    }

    /// Its call is about to pass this gate. Returns the ticket that the item has for it.
    pub(super) fn meet(&self, gate: &Arc<Gate>, now: Instant) -> Option<Ticket> {
        let state = &mut *lock(&self.state);
        if state
            .met
            .as_ref()
            .is_none_or(|met| !Arc::ptr_eq(&met.gate, gate))
        {
            state.met = Some(MetGate {
                gate: Arc::clone(gate),
                since: now,
                closings: gate.closings(),
            });
        }
        state.ticket.take_if(|ticket| ticket.is_of(gate))
    }

    /// How one of its requests ended. `None`: it was answered.
    pub(super) fn note(&self, failed: Option<Instant>) {
        let state = &mut *lock(&self.state);
        state.failing_since = failed.map(|now| state.failing_since.unwrap_or(now));
    }

    pub(super) fn set_in_line(&self, is_in_line: bool) {
        lock(&self.state).is_in_line = is_in_line;
    }

    /// A conversation that the journal knows. If the item is put back, its next call continues it.
    pub(super) fn add_conversation(&self, id: Arc<str>) {
        let state = &mut *lock(&self.state);
        // Nearly all items have one, and 100,000 of them may wait for a batch.
        state.conversations.reserve_exact(1);
        state.conversations.push(id);
    }

    pub(super) fn times_put_back(&self) -> u32 {
        lock(&self.state).put_back
    }

    /// After a failure of its call: whether the item is asked again. Returns the
    /// conversations that its call had.
    pub(super) async fn put_back(&self, failed: &FailedCall<'_>) -> Option<Vec<Arc<str>>> {
        if !self.may_be_put_back(failed) {
            return None;
        }
        // Boxed, since few items fail so.
        if let Some((gate, since)) = self.gate_that_may_be_down() {
            Box::pin(self.control.undecided().wait(&gate, since)).await;
            if !self.may_be_put_back(failed) {
                return None;
            }
        }
        let error = failed.error;
        let state = &mut *lock(&self.state);
        let MetGate { gate, closings, .. } = state.met.as_ref()?;
        let was_held = state.is_in_line && error.category() == Category::Timeout;
        if !was_held && gate.closed_until().is_none() && gate.closings() == *closings {
            return None;
        }
        let is_overtaken = state
            .failing_since
            .is_some_and(|since| gate.has_answered_since(since));
        // Its first call may have had one attempt left when the server came back,
        // so that call does not count.
        if state.put_back > 0 && is_overtaken {
            state.overtaken += 1;
            state.failing_since = Some(self.control.clock().now());
        }
        let most = match error.category() {
            Category::RateLimitError => MOST_OVERTAKEN,
            _ => MOST_OVERTAKEN_UNANSWERED,
        };
        if state.overtaken >= most {
            return None;
        }
        state.put_back += 1;
        state.is_in_line = false;
        state.ticket = None;
        Some(std::mem::take(&mut state.conversations))
    }
}
