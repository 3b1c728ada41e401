//! What earlier processes wrote down, put into the book.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::book::{Ledger, NodeKey, NodeStats};
use super::record::CallRecord;
use crate::ids::CallId;

impl NodeKey {
    /// A node that another process called.
    pub(crate) fn foreign(path: String, name: Cow<'static, str>) -> Self {
        NodeKey { path: path.into(), type_name: name.clone(), name }
    }
}

impl Ledger {
    /// Enters a call that ended in another process.
    pub(crate) fn enter(&self, node: NodeKey, record: CallRecord) {
        let stats = NodeStats {
            usage: record.usage(),
            busy: record.elapsed,
            visits: 1,
            degraded: u64::from(record.degraded.is_some()),
        };
        let mut book = self.lock();
        book.add(&node, stats);
        book.push(Arc::new(record));
    }

    /// Enters all that another book holds.
    pub(crate) fn enter_all(&self, other: &Ledger) {
        let (stats, calls): (_, Vec<_>) = {
            let other = other.lock();
            (other.stats.clone(), other.calls.iter().cloned().collect())
        };
        let mut book = self.lock();
        stats.iter().for_each(|(node, stats)| book.add(node, *stats));
        calls.into_iter().for_each(|record| book.push(record));
    }

    /// Whether a call was made here, and not in another process.
    pub(crate) fn made(&self, call: CallId) -> bool {
        self.lock().ids.made(call)
    }

    /// How many records of a journal the book has.
    pub(crate) fn has_of(&self, journal: &str) -> u64 {
        self.lock().journals.get(journal).copied().unwrap_or(0)
    }

    /// Notes how many records of a journal the book has.
    pub(crate) fn note_journal(&self, journal: &str, records: u64) {
        self.lock().journals.insert(journal.to_owned(), records);
    }
}

/// The time between the begin of a call and the end of its last attempt, as far as the attempts tell.
pub(crate) fn time_of_attempts(record: &CallRecord) -> Duration {
    record
        .attempts
        .iter()
        .map(|attempt| attempt.wait.saturating_add(attempt.elapsed))
        .fold(Duration::ZERO, Duration::saturating_add)
}
