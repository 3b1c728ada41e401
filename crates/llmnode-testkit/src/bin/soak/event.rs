//! What the two processes tell the one that watches, a line of JSON each.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::faulty::account::{Entry, Seen};
use crate::memory::Sample;

#[derive(Deserialize, Serialize)]
pub(crate) enum Event {
    /// The server listens.
    Serving { base_url: String },
    /// The server is done with a request.
    Seen(Seen),
    /// A call has ended.
    Ended { call: Ended, entries: Vec<Entry> },
    /// All calls have ended, and everything is closed.
    Closed(Closed),
}

/// How a call ended.
#[derive(Deserialize, Serialize)]
pub(crate) struct Ended {
    /// `None`: with an answer.
    pub(crate) category: Option<String>,
    /// It asked the server that refuses connections.
    pub(crate) refused: bool,
    /// It failed without a further try, because the retry budget was empty.
    pub(crate) budget_empty: bool,
}

/// What the process that calls knows at its end.
#[derive(Deserialize, Serialize)]
pub(crate) struct Closed {
    /// The ledger's own sums.
    pub(crate) requests: u64,
    pub(crate) tokens: u64,
    /// What the clock was asked to wait, and the waits that the ledger has.
    pub(crate) clock_waited: Duration,
    pub(crate) ledger_waited: Duration,
    pub(crate) memory: Vec<Sample>,
    pub(crate) tasks_left: usize,
    pub(crate) sockets_left: usize,
    pub(crate) seconds: f64,
}
