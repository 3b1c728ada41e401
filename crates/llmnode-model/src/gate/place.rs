//! A place in the line before a gate.

use std::time::{Duration, Instant};

/// A place in time. Times move with the gate: `shift` is how far they had moved when it was given.
pub(super) struct Place {
    pub(super) at: Instant,
    pub(super) shift: Duration,
    /// The time that it takes in the line.
    pub(super) step: Duration,
}

/// Why a request is not sent yet.
pub(super) enum Wait {
    Until(Instant),
    /// Another one probes; until when at most.
    Probed(Instant),
}
