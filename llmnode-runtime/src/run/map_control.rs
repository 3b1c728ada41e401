//! When a map takes its next node, and what ends the taking.
//!
//! In: how the attempts of its calls ended, and who of them waits at a gate. Out:
//! whether there is room for one more call, and whether a call may ask at all. A
//! map begins with few calls in flight and adds one for each success. While one of
//! its calls waits at a gate, it takes no node. What no retry mends, such as a bad
//! key, ends the asking for that gate.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use llmnode_model::Category;
use llmnode_model::gate::Gate;
use llmnode_model::internal::lock;

use super::batches::BatchPool;
use super::change_check::ChangeCheck;
use super::not_asked::NotAsked;
use super::undecided::Undecided;
use super::warm_up::WarmUp;
use crate::clock::Clock;
use crate::error::NodeError;

/// How many calls a map has in flight at first.
const FIRST: usize = 8;

/// So many may wait in an outage, however few run at once: then not all of them are
/// such as fail by themselves.
const OTHERS_TELL: usize = 8;

/// From so many items on, a second request with the same beginning is as good as certain.
const MANY: usize = 10;

pub(super) const GIVE_UP_AFTER: Duration = Duration::from_secs(15 * 60);

pub(super) struct MapControl {
    clock: Arc<dyn Clock>,
    concurrency: usize,
    give_up_after: Duration,
    keeps_going: bool,
    /// How many calls may be in flight now.
    window: AtomicUsize,
    /// How many of them wait at a gate.
    waiting: AtomicUsize,
    /// One of them had to wait: nodes are taken one by one.
    has_waited: AtomicBool,
    /// Something ended the asking for a gate, or for all.
    has_stopped: AtomicBool,
    /// The gate that answered last, if nothing was held since: then there is nothing to note.
    answering: AtomicUsize,
    /// How many items there are at least, as far as it is known.
    items: AtomicUsize,
    changes: ChangeCheck,
    warm_up: WarmUp,
    undecided: Undecided,
    has_suggested: AtomicBool,
    /// Over a batch API.
    batches: Option<Arc<BatchPool>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    gates: Vec<GateRecord>,
    /// The last gate that held a call.
    gate: Option<Arc<Gate>>,
    held_since: Option<Instant>,
    last_failure: Option<(Category, Box<str>)>,
    ended: Option<NotAsked>,
}

struct GateRecord {
    gate: Arc<Gate>,
    has_answered: bool,
    dead: Option<NotAsked>,
}

impl MapControl {
    pub(super) fn new(
        clock: Arc<dyn Clock>,
        concurrency: usize,
        give_up_after: Duration,
        keeps_going: bool,
        changes: ChangeCheck,
        warm_up: WarmUp,
    ) -> Self {
        MapControl {
            clock,
            concurrency,
            give_up_after,
            keeps_going,
            window: AtomicUsize::new(concurrency.min(FIRST)),
            waiting: AtomicUsize::new(0),
            has_waited: AtomicBool::new(false),
            has_stopped: AtomicBool::new(false),
            answering: AtomicUsize::new(0),
            items: AtomicUsize::new(0),
            changes,
            warm_up,
            undecided: Undecided::default(),
            has_suggested: AtomicBool::new(false),
            batches: None,
            state: Mutex::default(),
        }
    }

    pub(super) fn over(self, batches: Option<Arc<BatchPool>>) -> Self {
        MapControl { batches, ..self }
    }

    pub(super) fn batches(&self) -> Option<&Arc<BatchPool>> {
        self.batches.as_ref()
    }

    pub(super) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    pub(super) fn has_room(&self, in_flight: usize) -> bool {
        if let Some(batches) = &self.batches {
            return batches.has_room(in_flight);
        }
        let in_flight = in_flight.saturating_sub(self.undecided.count());
        if in_flight > 0 && self.warm_up.holds() {
            return false;
        }
        let window = self.window.load(Ordering::Relaxed).min(self.concurrency);
        if self.waiting.load(Ordering::Relaxed) == 0 {
            return in_flight < window;
        }
        in_flight < window.max(OTHERS_TELL) && self.probes_fail()
    }

    /// Whether it seems to be an outage, and those who wait may be the only ones
    /// whose requests fail. The more others wait with them, the sooner one of those
    /// probes.
    fn probes_fail(&self) -> bool {
        self.gate()
            .is_some_and(|gate| gate.failed_probes() > 0 && !gate.is_limited())
    }

    /// Whether the next node is taken only when the last one has passed its gate,
    /// so that maps which share a gate take turns.
    pub(super) fn takes_one_by_one(&self) -> bool {
        self.has_waited.load(Ordering::Relaxed)
    }

    pub(super) fn warm_up(&self) -> &WarmUp {
        &self.warm_up
    }

    pub(super) fn undecided(&self) -> &Undecided {
        &self.undecided
    }

    /// Whether nobody has suggested another order of the prompt yet.
    pub(super) fn suggests_first(&self) -> bool {
        !self.has_suggested.swap(true, Ordering::Relaxed)
    }

    /// There are at least so many items.
    pub(super) fn has_items(&self, least: usize) {
        self.items.fetch_max(least, Ordering::Relaxed);
    }

    pub(super) fn has_many(&self) -> bool {
        self.items.load(Ordering::Relaxed) >= MANY
    }

    /// An item has an output.
    pub(super) fn succeeded(&self) {
        let window = self.window.load(Ordering::Relaxed);
        if window < self.concurrency {
            self.window.store(window + 1, Ordering::Relaxed);
        }
    }

    /// Counts a call that waits, until the guard is dropped.
    pub(super) fn wait(&self, gate: &Arc<Gate>) -> Waiting<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.has_waited.store(true, Ordering::Relaxed);
        lock(&self.state).gate = Some(Arc::clone(gate));
        Waiting(self)
    }

    /// The last gate that held one of its calls.
    pub(super) fn gate(&self) -> Option<Arc<Gate>> {
        lock(&self.state).gate.clone()
    }

    /// Until when its calls are held at least. `None`: they are not.
    pub(super) fn held_until(&self) -> Option<Instant> {
        if self.waiting.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.gate()?.closed_until()
    }

    /// Until when calls may be held. `Err`: that has passed.
    pub(super) fn give_up_at(
        &self,
        now: Instant,
        is_closed: bool,
    ) -> Result<Option<Instant>, NotAsked> {
        let state = &mut *lock(&self.state);
        if let Some(ended) = &state.ended {
            return Err(ended.clone());
        }
        if !is_closed {
            return Ok(None);
        }
        self.answering.store(0, Ordering::Relaxed);
        let since = *state.held_since.get_or_insert(now);
        let end = since.checked_add(self.give_up_after);
        if end.is_none_or(|end| now < end) {
            return Ok(end);
        }
        let (category, last) = state
            .last_failure
            .take()
            .unwrap_or((Category::Timeout, "no request was answered".into()));
        tracing::warn!(
            target: "llmnode::map",
            "nothing was answered for {:?}, so the map gives up: {last}", self.give_up_after
        );
        let ended = NotAsked::because(
            category,
            &format!("{last} (nothing was answered for {:?})", self.give_up_after),
        );
        self.has_stopped.store(true, Ordering::Relaxed);
        Err(state.ended.insert(ended).clone())
    }

    pub(super) fn has_ended(&self) -> bool {
        lock(&self.state).ended.is_some()
    }

    /// Whether something ended the asking, for this gate or another one.
    pub(super) fn has_stopped(&self) -> bool {
        self.has_stopped.load(Ordering::Relaxed)
    }

    /// Ends the asking for all nodes that are left.
    pub(super) fn end(&self, error: &NodeError) {
        if !self.keeps_going {
            let because = || NotAsked::because(error.category(), error.message());
            lock(&self.state).ended.get_or_insert_with(because);
            self.has_stopped.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn changes(&self) -> &ChangeCheck {
        &self.changes
    }

    /// Whether all calls in flight wait to see whether the journal knows one of
    /// them, and none is known: then that is settled.
    pub(super) fn settles_changes(&self, in_flight: usize) -> bool {
        let Some(refused) = self.changes.decide(in_flight) else {
            return false;
        };
        if let Err(why) = refused {
            lock(&self.state).ended.get_or_insert(why);
            self.has_stopped.store(true, Ordering::Relaxed);
        }
        true
    }

    /// Why this gate is asked no more.
    pub(super) fn dead(&self, gate: &Arc<Gate>) -> Option<NotAsked> {
        if !self.has_stopped.load(Ordering::Relaxed) {
            return None;
        }
        let state = &mut *lock(&self.state);
        let record = state.record_of(gate);
        record.dead.clone().or_else(|| state.ended.clone())
    }

    /// How a request ended that passed the gate. `None`: it was answered.
    pub(super) fn note(&self, gate: &Arc<Gate>, failure: Option<(Category, &str)>) {
        let place = Arc::as_ptr(gate).addr();
        if failure.is_none() && self.answering.load(Ordering::Relaxed) == place {
            return;
        }
        let state = &mut *lock(&self.state);
        let Some((category, message)) = failure else {
            state.record_of(gate).has_answered = true;
            state.held_since = None;
            self.answering.store(place, Ordering::Relaxed);
            return;
        };
        match category {
            Category::RateLimitError
            | Category::ServerError
            | Category::Network
            | Category::Timeout => {
                state.last_failure = Some((category, message.into()));
                return;
            }
            _ if self.keeps_going => return,
            Category::ApiKeyError | Category::QuotaError => {}
            // Otherwise something else of the request is not there.
            Category::NotFound if !state.record_of(gate).has_answered => {}
            _ => return,
        }
        state
            .record_of(gate)
            .dead
            .get_or_insert_with(|| NotAsked::because(category, message));
        self.has_stopped.store(true, Ordering::Relaxed);
    }
}

impl State {
    fn record_of(&mut self, gate: &Arc<Gate>) -> &mut GateRecord {
        let at = self
            .gates
            .iter()
            .position(|record| Arc::ptr_eq(&record.gate, gate))
            .unwrap_or_else(|| {
                self.gates.push(GateRecord {
                    gate: Arc::clone(gate),
                    has_answered: false,
                    dead: None,
                });
                self.gates.len() - 1
            });
        &mut self.gates[at]
    }
}

impl fmt::Debug for MapControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MapControl")
            .field("window", &self.window)
            .field("waiting", &self.waiting)
            .finish_non_exhaustive()
    }
}

pub(super) struct Waiting<'c>(&'c MapControl);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
