//! The results of a batch, line by line: each goes to the call that waits for it.

use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Instant, SystemTime};

use llmnode_model::batch::{BatchStatus, LineResult, MissingLines};
use llmnode_model::{Category, Group, ModelError, Retry};

use super::batch::Batch;
use super::parked::{BatchTimes, Failed, FailedCost, LineAnswer, LineOutcome};

/// Results that cannot be read are asked for so often at least, even when the time of the batch is over.
const READINGS: u32 = 4;

impl Batch {
    /// Gives each line to its call, no more at once than the map's concurrency. A line that is missing failed on the way.
    pub(super) async fn read(&mut self, status: &BatchStatus, end: Option<Instant>) {
        self.pool.begins_reading();
        let read = self.read_lines(status, end).await;
        self.forget_gone();
        match read {
            Ok(()) if status.missing != MissingLines::Lost => {
                let now = SystemTime::now();
                let result = match status.missing {
                    MissingLines::Cancelled => LineResult::Cancelled,
                    MissingLines::Expired | MissingLines::Lost => LineResult::Expired,
                };
                let waiting = std::mem::take(&mut self.waiting);
                for one in waiting.into_values() {
                    one.has_result(self.outcome(result.clone(), now), &self.unread);
                }
            }
            Ok(()) => {
                let message = format!(
                    "the results of the batch {} have no line for this request",
                    self.id
                );
                let failed = Failed {
                    retry: Some(Retry::Transport),
                    ..Failed::new(Category::BadResponse, message, FailedCost::Unknown)
                };
                self.fail_all(&failed);
            }
            // Not sent again by itself, since it is paid for.
            Err(error) if error.category == Category::NotFound => {
                self.fail_all(&Failed::of_error(&error, FailedCost::Unknown));
            }
            // The next process reads it.
            Err(error) => {
                self.unread.set();
                self.fail_all(&Failed::unread(&self.id, &error));
            }
        }
        self.pool.ends_reading();
    }

    /// What was read is done with. After a failure on the way, the rest is read again until the time of the batch is over.
    async fn read_lines(
        &mut self,
        status: &BatchStatus,
        end: Option<Instant>,
    ) -> Result<(), ModelError> {
        let ended = SystemTime::now();
        let mut readings = 0;
        loop {
            let error = match self.read_once(status, ended).await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            let wait = self.pool.api.wait_before(readings);
            readings += 1;
            let has_time = end.is_some_and(|end| self.pool.clock.now() < end);
            let may_repeat = match self.pool.api.once {
                true => false,
                false => readings < READINGS || has_time,
            };
            if error.category.group() != Group::Transport || !may_repeat {
                return Err(error);
            }
            tracing::warn!(target: "llmnode::batch", batch = self.id, "its results cannot be read: {error}");
            // Meanwhile, others may be sent.
            self.pool.ends_reading();
            let continues = self.pause_for_calls(wait).await;
            self.pool.begins_reading();
            if !continues {
                return Ok(());
            }
        }
    }

    async fn read_once(
        &mut self,
        status: &BatchStatus,
        ended: SystemTime,
    ) -> Result<(), ModelError> {
        let mut results = self.wire.results(status).await?;
        let mut delivered = HashSet::new();
        while !self.has_nobody()
            && let Some((id, result)) = results.next().await?
        {
            let Some((id, line)) = self.waiting.remove_entry(&*id) else {
                if delivered.contains(&*id) {
                    tracing::warn!(target: "llmnode::batch", batch = self.id, line = id, "a second result of the same line is left out");
                }
                continue;
            };
            delivered.insert(id);
            let pool = Arc::clone(&self.pool);
            poll_fn(|_| match line.is_gone() || pool.has_room_for_result() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            })
            .await;
            line.has_result(self.outcome(result, ended), &self.unread);
        }
        Ok(())
    }

    fn outcome(&self, result: LineResult, ended: SystemTime) -> LineOutcome {
        let id = &self.id;
        match result {
            LineResult::Response(response) => {
                let times = BatchTimes {
                    batch: id.clone(),
                    submitted: self.submitted,
                    ended: Some(ended),
                };
                LineOutcome::Response(Box::new(LineAnswer { response, times }))
            }
            LineResult::Expired => LineOutcome::Failed(Failed::new(
                Category::Timeout,
                format!("the batch {id} expired before this request was answered"),
                FailedCost::Nothing,
            )),
            LineResult::Cancelled if self.is_late && self.pool.api.at_once => LineOutcome::Again,
            LineResult::Cancelled if self.is_late => LineOutcome::Failed(Failed::new(
                Category::Timeout,
                format!(
                    "the batch {id} did not end within {:?}, and was cancelled before this request was answered",
                    self.pool.api.within
                ),
                FailedCost::Nothing,
            )),
            LineResult::Cancelled => LineOutcome::Failed(Failed::new(
                Category::Cancelled,
                format!("the batch {id} was cancelled before this request was answered"),
                FailedCost::Nothing,
            )),
        }
    }
}
