//! What stands between a flow's calls and its journal.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use llmnode_runtime::internal::{Event, Recorder, figures, without_attempts};
use llmnode_runtime::{BoxError, BoxFuture};

use super::error::JournalError;
use super::interface::Journal;
use super::record::{AttemptBegan, CallBegan, CallEnded, Entry, Record};
use crate::flow::Position;

/// Takes down what happens, and writes it to the journal, in order.
pub(super) struct Keeper {
    notes: Mutex<Notes>,
    journal: tokio::sync::Mutex<Box<dyn Journal>>,
}

struct Notes {
    /// What is not in the journal yet.
    waiting: VecDeque<Record>,
    /// The step under way.
    at: Position,
}

impl Keeper {
    pub(super) fn new(journal: Box<dyn Journal>, at: Position) -> Self {
        let notes = Notes { waiting: VecDeque::new(), at };
        Keeper { notes: Mutex::new(notes), journal: tokio::sync::Mutex::new(journal) }
    }

    /// Takes down a record; from now on this is the step under way.
    pub(super) fn add(&self, record: Record, at: Position) {
        let mut notes = self.lock();
        notes.waiting.push_back(record);
        notes.at = at;
    }

    /// Writes what is waiting. A record leaves the queue before it is written: one that is dropped on the way is not
    /// written twice.
    pub(super) async fn append_all(&self) -> Result<(), JournalError> {
        let mut journal = self.journal.lock().await;
        loop {
            let Some(record) = self.lock().waiting.pop_front() else { return Ok(()) };
            journal.append(&record).await?;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        // Nothing panics while it holds the lock.
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorder for Keeper {
    fn note(&self, event: Event<'_>) {
        let mut notes = self.lock();
        let record = match event {
            Event::CallBegan { call, path } => Entry::CallBegan(CallBegan {
                id: call.id,
                node: call.node.to_owned(),
                path: path.to_owned(),
                at: notes.at.clone(),
            }),
            Event::AttemptBegan { call, path, attempt } => Entry::AttemptBegan(Box::new(AttemptBegan {
                node: call.node.to_owned(),
                path: path.to_owned(),
                parent: call.parent,
                at: notes.at.clone(),
                unix_ms: now(),
                attempt: figures(attempt),
            })),
            Event::AttemptEnded(attempt) => Entry::AttemptEnded(Box::new(figures(attempt))),
            Event::AttemptForgotten(id) => Entry::AttemptForgotten(id),
            Event::CallEnded { path, record } => {
                let call = without_attempts(record);
                Entry::CallEnded(Box::new(CallEnded { path: path.to_owned(), call }))
            }
        };
        notes.waiting.push_back(record.into());
    }

    fn write(&self) -> BoxFuture<'_, Result<(), BoxError>> {
        Box::pin(async { Ok(self.append_all().await?) })
    }
}

/// Milliseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
