//! A batch that an earlier process left in the journal.

use std::collections::HashMap;
use std::sync::Arc;

use super::batch::{Batch, wait_for_quiet};
use super::find::find;
use super::parked::{Failed, LineOutcome, Unread};
use super::pool::{BatchPool, LeftStart};
use crate::ledger::RunEvent;

/// A batch that an earlier process sent, or was about to send. Its requests have parked in the order of the map's nodes; it is
/// looked at when all calls wait, so that most of what it answers is asked for.
pub(super) async fn left_batch(pool: Arc<BatchPool>, start: LeftStart, quiet: usize) {
    let Some(recorder) = pool.recorder() else {
        return;
    };
    let LeftStart {
        place,
        batch,
        wire,
        in_queue,
    } = start;
    pool.batch_begins();
    wait_for_quiet(&pool, quiet).await;
    let id = match &batch.batch {
        Some(id) => Ok(Some(id.clone())),
        None => {
            let traces = batch.traces();
            let age = traces.planned.elapsed().unwrap_or_default();
            let left = pool.api.within.saturating_sub(age);
            let end = pool.clock.now().checked_add(left);
            find(&pool, &*wire, &traces, end).await
        }
    };
    let mut driven = Batch {
        pool,
        wire,
        recorder,
        name: batch.name,
        id: String::new(),
        lines: batch.planned_lines,
        submitted: batch.created.or(batch.planned),
        cancelled: batch.cancelled,
        in_queue: Some(in_queue),
        waiting: HashMap::new(),
        place: Some(place),
        order: Vec::new(),
        is_late: false,
        unread: Unread::default(),
    };
    match id {
        Ok(Some(id)) => {
            if batch.batch.is_none() {
                driven.recorder.record(&RunEvent::BatchCreated {
                    name: &driven.name,
                    batch: &id,
                });
            }
            driven.pool.room().is_in(&id);
            driven.id = id;
            let age = driven
                .submitted
                .and_then(|submitted| submitted.elapsed().ok())
                .unwrap_or_default();
            driven.run(age).await;
        }
        Ok(None) => driven.never_was().await,
        Err(failed) => driven.fails_until_over(&failed).await,
    }
}

impl Batch {
    /// Whether it is there cannot be found out. Its lines stay attached to it, so those that park later fail as well: nobody else
    /// would answer them.
    async fn fails_until_over(mut self, failed: &Failed) {
        self.in_queue = None;
        loop {
            let before = self.pool.quiet();
            self.take_attached();
            self.fail_all(failed);
            if self.pool.is_over() {
                break;
            }
            wait_for_quiet(&self.pool, before).await;
        }
        self.pool.batch_ends();
    }

    /// The process died before it created the batch: its lines are parked again, as if they had never been planned.
    async fn never_was(mut self) {
        self.note_end(false).await;
        if let Some(place) = self.place {
            self.pool.was_not_created(place);
        }
        self.take_attached();
        for (_, one) in self.waiting.drain() {
            one.ends(LineOutcome::Again);
        }
        self.pool.batch_ends();
    }
}
