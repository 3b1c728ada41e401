//! Adds usage that earlier processes recorded.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use llmnode_model::{CallId, Category};

use super::record::{AttemptRecord, CallRecord, Labels};
use super::snapshot::NodeStats;
use super::store::{Ledger, NodeKey};
use super::usage::Replayed;

impl NodeKey {
    /// A node that another process called.
    pub fn foreign(path: String, name: Cow<'static, str>) -> Self {
        NodeKey {
            path: path.into(),
            type_name: name.clone(),
            name,
        }
    }
}

/// How a journal fills the ledger.
pub trait LedgerImport {
    /// Enters a call that ended in another process.
    fn import_call(&self, node: NodeKey, record: CallRecord);

    /// Enters all that another ledger holds.
    fn import_all(&self, other: &Ledger);

    /// Whether a call was made here, and not in another process.
    fn issued(&self, call: CallId) -> bool;

    /// How many records of a journal the ledger has.
    fn journal_records(&self, journal: &str) -> u64;

    /// Notes how many records of a journal the ledger has.
    fn set_journal_records(&self, journal: &str, records: u64);
}

impl LedgerImport for Ledger {
    fn import_call(&self, node: NodeKey, record: CallRecord) {
        let stats = NodeStats {
            usage: record.usage(),
            busy: record.elapsed,
            visits: 1,
            used_fallback: u64::from(record.used_fallback.is_some()),
        };
        let mut store = self.lock();
        store.add(&node, stats);
        store.push(Arc::new(record));
    }

    fn import_all(&self, other: &Ledger) {
        let (stats, calls): (_, Vec<_>) = {
            let other = other.lock();
            (other.stats.clone(), other.calls.iter().cloned().collect())
        };
        let mut store = self.lock();
        stats
            .iter()
            .for_each(|(node, stats)| store.add(node, *stats));
        calls.into_iter().for_each(|record| store.push(record));
    }

    fn issued(&self, call: CallId) -> bool {
        self.lock().ids.issued(call)
    }

    fn journal_records(&self, journal: &str) -> u64 {
        self.lock().journals.get(journal).copied().unwrap_or(0)
    }

    fn set_journal_records(&self, journal: &str, records: u64) {
        self.lock().journals.insert(journal.to_owned(), records);
    }
}

/// The record of a call whose process ended before the call did. It lasted as long
/// as its attempts. `parent`: the call that made it.
pub fn cut_short(
    (id, parent): (CallId, Option<CallId>),
    node: Cow<'static, str>,
    started: SystemTime,
    attempts: Vec<AttemptRecord>,
) -> CallRecord {
    let times = attempts
        .iter()
        .map(|attempt| attempt.wait.saturating_add(attempt.elapsed));
    CallRecord {
        id,
        parent,
        node,
        at: None,
        item: None,
        put_back: 0,
        labels: Labels::new(),
        started,
        category: Some(Category::Cancelled),
        used_fallback: None,
        elapsed: times.fold(Duration::ZERO, Duration::saturating_add),
        attempts,
        failed_tries: Vec::new(),
        resumed_tools: Vec::new(),
        changed_since_pause: Vec::new(),
        replayed: 0,
        replayed_sum: Replayed::default(),
    }
}
