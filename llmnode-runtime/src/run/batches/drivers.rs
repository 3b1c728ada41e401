//! The batches of a map, as futures that are polled with its calls.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use llmnode_model::BoxFuture;

use super::batch::note_end;
use super::left::left_batch;
use super::life::delete_files;
use super::pool::BatchPool;
use super::send::new_batch;
use super::unused::{Unused, warn_of_unused};
use crate::ledger::JournaledBatch;

/// The batches of a map. They are polled with its calls.
pub(in crate::run) struct Drivers {
    pool: Arc<BatchPool>,
    batches: Vec<BoxFuture<'static, ()>>,
    /// Of a stream of nodes: ends when nothing came for a while.
    lingering: Option<Lingering>,
    has_warned: bool,
    /// How many requests the first orders had, if a limit held others back.
    limit_holds: Option<usize>,
}

struct Lingering {
    end: Instant,
    sleep: BoxFuture<'static, ()>,
}

impl Drivers {
    pub(in crate::run) fn new(pool: Arc<BatchPool>) -> Self {
        Drivers {
            pool,
            batches: Vec::new(),
            lingering: None,
            has_warned: false,
            limit_holds: None,
        }
    }

    /// Sends what is to be sent, and lets the batches go on. `in_flight`: the calls of the map. `is_waiting`: a stream of nodes
    /// has none at the moment.
    pub(in crate::run) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        in_flight: usize,
        is_waiting: bool,
    ) {
        // As it is before this look, which may be the one that finds all calls waiting.
        let quiet = self.pool.quiet();
        for start in self.pool.left_starts() {
            let pool = Arc::clone(&self.pool);
            self.batches.push(Box::pin(left_batch(pool, start, quiet)));
        }
        let mut orders = self.pool.take_orders(in_flight, is_waiting);
        if orders.is_none() && is_waiting && self.has_lingered(cx) {
            orders = self.pool.take_orders(in_flight, is_waiting);
        }
        let orders = orders.unwrap_or_default();
        let sent: usize = orders.iter().map(|order| order.lines.len()).sum();
        if sent > 0 && self.limit_holds.is_none() && self.pool.is_held() {
            // With those that went before.
            self.limit_holds = Some(self.pool.waiting());
        }
        for order in orders {
            let pool = Arc::clone(&self.pool);
            self.batches.push(Box::pin(new_batch(pool, order)));
        }
        let reads = self.pool.is_reading();
        self.batches
            .retain_mut(|batch| batch.as_mut().poll(cx).is_pending());
        // What waited for the end of a file, or for room in a queue, may be sent now, and nothing else would wake the map.
        let has_read = reads && !self.pool.is_reading();
        if self.pool.was_freed() || has_read {
            cx.waker().wake_by_ref();
        }
    }

    /// How many requests a limit holds at once. `None`: it holds back none so far.
    pub(in crate::run) fn limit_holds(&self) -> Option<usize> {
        self.limit_holds
    }

    /// How many requests wait, and in how many batches that are under way.
    pub(in crate::run) fn count(&self) -> (usize, usize) {
        (self.pool.waiting(), self.pool.batches())
    }

    /// Whether no node of the stream has come for a while.
    fn has_lingered(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(end) = self.pool.lingers_until() else {
            return false;
        };
        let clock = Arc::clone(&self.pool.clock);
        let mut lingering = self
            .lingering
            .take()
            .filter(|lingering| lingering.end == end)
            .unwrap_or_else(|| Lingering {
                end,
                sleep: Box::pin(async move { clock.until(end).await }),
            });
        let has_ended = lingering.sleep.as_mut().poll(cx).is_ready();
        if !has_ended {
            self.lingering = Some(lingering);
        }
        has_ended
    }

    /// All calls have ended: what is left is written to the journal, and files are deleted.
    pub(in crate::run) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.pool.ends();
        if !std::mem::replace(&mut self.has_warned, true) {
            self.leave_unused();
        }
        self.batches
            .retain_mut(|batch| batch.as_mut().poll(cx).is_pending());
        match self.batches.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl Drivers {
    /// What earlier processes ordered, and nobody asked for.
    fn leave_unused(&mut self) {
        for unused in self.pool.unused() {
            let pool = Arc::clone(&self.pool);
            self.batches.push(Box::pin(leave_one_unused(pool, unused)));
        }
        for batch in self.pool.done_with() {
            let pool = Arc::clone(&self.pool);
            self.batches.push(Box::pin(async move {
                note_done(&pool, &batch).await;
            }));
        }
    }
}

async fn leave_one_unused(pool: Arc<BatchPool>, mut unused: Unused) {
    let is_kept = warn_of_unused(&mut unused, pool.prices()).await;
    // A batch that was partly asked for ends with the next start, once its other lines have an end in the journal.
    if is_kept || !unused.is_whole {
        return;
    }
    let is_noted = note_done(&pool, &unused.batch).await;
    if let (Some(wire), true) = (&unused.wire, is_noted && !pool.api.keeps_files) {
        delete_files(&**wire, &unused.batch.name, &unused.files).await;
    }
}

/// All lines of a batch have an end, or nothing is to be found of those that have none: only the record of its end is missing.
async fn note_done(pool: &BatchPool, batch: &JournaledBatch) -> bool {
    let Some(recorder) = pool.recorder() else {
        return false;
    };
    note_end(&*recorder, &batch.name, batch.batch.is_some()).await
}

impl Drop for Drivers {
    fn drop(&mut self) {
        self.batches.clear();
        self.pool.clear();
    }
}
