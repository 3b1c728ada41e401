//! What holds requests back: after a rate limit, in an outage, and at a pace.
//!
//! A [`Gate`] is that of one endpoint, one key and one model. A request passes it in three steps: it lines up (and gets a
//! place in time), it enters when its time has come, and it says how it ended. What it says moves the gate:
//!
//! - A rate limit closes it, until the wait that the server asks for has passed. Then one request probes. If that is
//!   answered, the gate opens, and those in line leave in order at the pace that the server took before; if it is
//!   refused, the gate is closed again.
//! - An outage closes it, too: three different calls failed in a row, or a connection was refused.
//!
//! It knows no clock: every method gets the time. It never waits: that is up to whoever asks.

mod counter;
mod lanes;
mod limits;
mod line;
mod state;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::ids::CallId;
use crate::pace::Pace;
use crate::panics::lock;
use lanes::{Lanes, Paced};
pub use limits::{RateLimit, RateLimits};
pub use line::{Entry, Slot, Ticket};
use state::State;

/// The gates of an endpoint and a key, one for each model. Clones share them.
#[derive(Clone, Default)]
pub struct Gates(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Something was refused once: until then, nobody needs to look.
    active: Arc<AtomicBool>,
    known: Mutex<Vec<Known>>,
    lanes: Option<Mutex<Lanes>>,
}

struct Known {
    owner: usize,
    model: Box<str>,
    gate: Arc<Gate>,
}

impl Gates {
    /// Gates before which all requests keep a pace.
    pub fn of_pace(pace: Option<Pace>) -> Self {
        let lanes = pace.map(|pace| Mutex::new(Lanes::new(pace)));
        Gates(Arc::new(Shared { lanes, ..Shared::default() }))
    }

    /// Takes a request's part of the pace. `prompt`: its tokens, estimated. `None`: there is no pace.
    pub fn take_pace(&self, now: Instant, prompt: u64) -> Option<PaceTicket> {
        let paced = lock(self.0.lanes.as_ref()?).take(now, prompt);
        Some(PaceTicket { gates: self.clone(), paced, is_sent: false })
    }

    /// Returns whether all requests keep a pace.
    pub fn are_paced(&self) -> bool {
        self.0.lanes.is_some()
    }

    /// Returns the gate of a model. `owner` tells models apart that share these gates and may have the same name.
    pub fn of(&self, owner: usize, model: &str) -> Arc<Gate> {
        let mut known = lock(&self.0.known);
        if let Some(found) = known.iter().find(|one| one.owner == owner && *one.model == *model) {
            return Arc::clone(&found.gate);
        }
        let gate = Arc::new(Gate::new(Arc::clone(&self.0.active)));
        known.push(Known { owner, model: model.into(), gate: Arc::clone(&gate) });
        gate
    }

    /// Returns whether nothing was ever refused.
    pub fn are_idle(&self) -> bool {
        !self.0.active.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Gates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gates").field("idle", &self.are_idle()).finish()
    }
}

/// What a request took of the pace. Dropped before it was sent, it gives that back.
pub struct PaceTicket {
    gates: Gates,
    paced: Paced,
    is_sent: bool,
}

impl PaceTicket {
    /// Returns when the request may be sent.
    pub fn at(&self) -> Instant {
        self.paced.at
    }

    /// It is sent.
    pub fn sent(&mut self) {
        self.is_sent = true;
    }

    /// The provider has counted its tokens.
    pub fn counted(&self, total: u64, output: Option<u64>) {
        self.gates.0.lanes.iter().for_each(|lanes| lock(lanes).counted(self.paced, total, output));
    }
}

impl Drop for PaceTicket {
    fn drop(&mut self) {
        if !self.is_sent {
            self.gates.0.lanes.iter().for_each(|lanes| lock(lanes).give_back(self.paced));
        }
    }
}

/// The gate of an endpoint, a key and a model.
pub struct Gate {
    active: Arc<AtomicBool>,
    state: Mutex<State>,
    changed: Notify,
}

impl Gate {
    fn new(active: Arc<AtomicBool>) -> Self {
        Gate { active, state: Mutex::default(), changed: Notify::new() }
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

    /// Returns a future that ends when the gate opens or closes after this call.
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
        lock(&self.state).closings
    }

    /// A request was answered, whatever the answer is worth. `sent`: when it entered, if it did.
    pub fn answered(&self, now: Instant, sent: Option<Instant>) {
        if lock(&self.state).answered(now, sent) {
            self.changed.notify_waiters();
        }
    }

    /// A request was refused by a rate limit. `asked`: the wait that the server asks for; `most`: the longest one that
    /// counts.
    pub fn refused(&self, now: Instant, sent: Option<Instant>, asked: Option<Duration>, most: Duration) {
        self.active.store(true, Ordering::Relaxed);
        lock(&self.state).refused(now, sent, asked, most);
        self.changed.notify_waiters();
    }

    /// The limits in the headers of an answer slow the line down. `tokens`: those of the request and its answer.
    pub fn limited(&self, now: Instant, limits: RateLimits, tokens: Option<u64>) {
        lock(&self.state).limited(now, limits, tokens);
    }

    /// A request of this call got no answer. `unreached`: not even a connection.
    pub fn failed(&self, now: Instant, sent: Option<Instant>, call: CallId, unreached: bool) {
        self.active.store(true, Ordering::Relaxed);
        if lock(&self.state).failed(now, sent, call, unreached) {
            self.changed.notify_waiters();
        }
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("closed", &self.closed_until().is_some()).finish_non_exhaustive()
    }
}
