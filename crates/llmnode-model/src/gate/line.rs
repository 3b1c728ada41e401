//! A place in the line before a gate, and the ticket of a request that entered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Gate;
use crate::panics::lock;

/// A place in time. Times move with the gate: `shift` is how far they had moved when it was given.
pub(super) struct Place {
    pub(super) at: Instant,
    pub(super) shift: Duration,
    /// The time that it takes in the line.
    pub(super) step: Duration,
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
    pub(super) fn new(gate: Arc<Gate>, place: Place) -> Self {
        Slot { gate, place, entered: false }
    }

    /// Asks whether the request may be sent.
    pub fn enter(&mut self, now: Instant) -> Entry {
        match lock(&self.gate.state).enter(&self.place, now) {
            Err(waits) => waits,
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
    pub(super) fn new(gate: Arc<Gate>, sent: Instant, probes: bool) -> Self {
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
