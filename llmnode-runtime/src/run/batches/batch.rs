//! A batch that was given to the provider, or is about to be, and what its steps share.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime};

use llmnode_model::batch::BatchWire;

use super::parked::{Acks, BatchNames, Failed, LineOutcome, Planned, Unread, Waiting};
use super::pool::BatchPool;
use super::queue::InQueue;
use crate::ledger::{Recorder, RunEvent};

/// What the steps of a batch share.
pub(super) struct Batch {
    pub(super) pool: Arc<BatchPool>,
    pub(super) wire: Arc<dyn BatchWire>,
    pub(super) recorder: Arc<dyn Recorder>,
    pub(super) name: String,
    /// The provider's id.
    pub(super) id: String,
    pub(super) lines: usize,
    pub(super) submitted: Option<SystemTime>,
    /// When a map cancelled it, since its time was over. It may have been one of an earlier process.
    pub(super) cancelled: Option<SystemTime>,
    /// Until it has ended.
    pub(super) in_queue: Option<InQueue>,
    /// Its lines without a result, by id.
    pub(super) waiting: HashMap<Arc<str>, Waiting>,
    /// Of `left`, if an earlier process sent it.
    pub(super) place: Option<usize>,
    /// Ids in the order of the lines: a refusal may name them by number.
    pub(super) order: Vec<Arc<str>>,
    /// Its time is over: if it was cancelled, then for that.
    pub(super) is_late: bool,
    /// Whether a result was not read, or a call was dropped before its result came. Then the batch stays open in the journal and
    /// keeps its files: a later process that asks for that line finds what was paid for.
    pub(super) unread: Unread,
}

impl Batch {
    pub(super) fn take_attached(&mut self) {
        let Some(place) = self.place else { return };
        for mut one in self.pool.attached(place) {
            let ack = Acks::new().one();
            let name = self.name.clone();
            one.plan(Planned::In {
                batch: Arc::new(BatchNames { name }),
                ack,
            });
            self.waiting.insert(Arc::clone(&one.id), one);
        }
        if self.is_late && self.pool.api.at_once {
            self.pool.ask_directly(self.waiting.keys());
        }
    }

    /// Forgets the calls that are gone.
    pub(super) fn forget_gone(&mut self) {
        let before = self.waiting.len();
        self.waiting.retain(|_, waiting| !waiting.is_gone());
        if self.waiting.len() < before {
            self.unread.set();
        }
    }

    pub(super) fn fail_all(&mut self, failed: &Failed) {
        for (_, one) in self.waiting.drain() {
            one.ends(LineOutcome::Failed(failed.clone()));
        }
    }

    pub(super) fn again(&mut self) {
        for (_, one) in self.waiting.drain() {
            one.ends(LineOutcome::Again);
        }
    }

    pub(super) async fn note_end(&self, was_created: bool) -> bool {
        note_end(&*self.recorder, &self.name, was_created).await
    }

    pub(super) fn end_of_time(&self, age: Duration) -> Option<Instant> {
        let left = self.pool.api.within.saturating_sub(age);
        self.pool.clock.now().checked_add(left)
    }

    /// Waits, as long as one of its calls waits for it. `false`: none does.
    pub(super) async fn pause_for_calls(&mut self, time: Duration) -> bool {
        let clock = Arc::clone(&self.pool.clock);
        let mut sleep = std::pin::pin!(clock.sleep(time));
        // The map polls its batches whenever one of its calls has gone on, or was dropped.
        poll_fn(|cx| {
            if self.has_nobody() {
                return Poll::Ready(false);
            }
            sleep.as_mut().poll(cx).map(|()| true)
        })
        .await
    }

    /// Whether all calls are gone, such as one that was dropped by a timeout around it.
    pub(super) fn has_nobody(&self) -> bool {
        self.pool.is_over() || self.waiting.values().all(Waiting::is_gone)
    }
}

/// Returns whether the journal has it. One that lost a record may lack an answer of the batch, which is paid for: then the batch stays
/// open, so that the next process reads it once more.
pub(super) async fn note_end(recorder: &dyn Recorder, name: &str, was_created: bool) -> bool {
    // First what came before: a record that follows a failure would be written by the next who writes.
    if !is_written(recorder).await || was_created && recorder.has_lost() {
        return false;
    }
    recorder.record(&RunEvent::BatchEnded { name, was_created });
    is_written(recorder).await
}

async fn is_written(recorder: &dyn Recorder) -> bool {
    let written = recorder.write().await;
    if let Err(fault) = &written {
        tracing::warn!(target: "llmnode::journal", "{fault}");
    }
    written.is_ok()
}

/// Until all calls of the map wait once more, or have ended.
pub(super) async fn wait_for_quiet(pool: &BatchPool, before: usize) {
    poll_fn(|_| match pool.quiet() > before || pool.is_over() {
        true => Poll::Ready(()),
        // The map polls its batches whenever one of its calls has gone on.
        false => Poll::Pending,
    })
    .await;
}

pub(super) fn by_id(waiting: Vec<Waiting>) -> HashMap<Arc<str>, Waiting> {
    waiting
        .into_iter()
        .map(|one| (Arc::clone(&one.id), one))
        .collect()
}
