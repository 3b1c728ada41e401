//! What the two processes tell the one that watches, a line of JSON each.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::faulty::account::{Entry, Seen};
use crate::memory::Sample;

#[derive(Deserialize, Serialize)]
pub(crate) enum Event {
    Serving {
        base_url: String,
    },
    /// The server has finished a request.
    Seen(Seen),
    Ended {
        call: Ended,
        entries: Vec<Entry>,
    },
    /// All calls have ended, and everything is closed.
    Closed(Closed),
}

#[derive(Deserialize, Serialize)]
pub(crate) struct Ended {
    /// `None`: with an answer.
    pub(crate) category: Option<String>,
    /// By a closed port.
    pub(crate) refused: bool,
    /// Without a further try.
    pub(crate) budget_empty: bool,
}

/// Known to the calling process at its end.
#[derive(Deserialize, Serialize)]
pub(crate) struct Closed {
    /// From the ledger.
    pub(crate) requests: u64,
    pub(crate) tokens: u64,
    /// Waits asked of the clock, and waits in the ledger.
    pub(crate) clock_waited: Duration,
    pub(crate) ledger_waited: Duration,
    pub(crate) memory: Vec<Sample>,
    pub(crate) tasks_left: usize,
    pub(crate) sockets_left: usize,
    pub(crate) seconds: f64,
}
