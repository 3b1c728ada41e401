//! What is left of a call that has ended well: its output and record, and, where
//! somebody wants a report, what that says beside them.

use std::sync::Arc;

use llmnode_model::{Message, ProviderState};

use crate::ledger::{CallGuard, CallRecord, Compacted, Replayed, Usage};

/// What `RunCore::call` returns.
pub struct Ended<T> {
    /// The output of the node.
    pub value: T,
    /// The record of the call.
    pub record: Arc<CallRecord>,
}

/// What a report has beside the output and the record.
#[derive(Default)]
pub(super) struct Account {
    pub(super) total: Usage,
    pub(super) replayed: Replayed,
    pub(super) messages: Vec<Message>,
    pub(super) carried: Option<Arc<ProviderState>>,
    pub(super) compacted: Vec<Compacted>,
}

impl Account {
    pub(super) fn of(scope: &CallGuard<'_>, record: &CallRecord) -> Self {
        let (messages, carried, mut total, mut replayed) = scope.take_result();
        total.merge(&record.usage());
        replayed.merge(&record.replayed_sum);
        Account {
            total,
            replayed,
            messages,
            carried,
            compacted: scope.take_compacted(),
        }
    }
}
