//! The looks at a batch, until it has ended or its time is over.

use std::time::{Duration, Instant, SystemTime};

use llmnode_model::batch::BatchStatus;
use llmnode_model::{Category, Group, Retry};

use super::batch::Batch;
use super::parked::{Failed, FailedCost};
use crate::ledger::RunEvent;

/// How long a batch that was cancelled is given to end, but no longer than it was given at all. OpenAI takes up to ten minutes, and
/// only then are there the results of what was answered.
const CANCEL_WAIT: Duration = Duration::from_secs(15 * 60);

/// Looks at a batch that was cancelled.
const CANCEL_LOOKS: u32 = 30;

impl Batch {
    /// Looks at the batch until it has ended, or its time is over at `end`. `None`: everybody who waited was told something else, or is gone.
    pub(super) async fn until_ended(&mut self, end: Option<Instant>) -> Option<BatchStatus> {
        let mut look = 0;
        loop {
            // One that was just created is not done; one of another process may be.
            let waits = look > 0 || self.place.is_none() && !self.pool.api.once;
            let wait = self.pool.api.wait_before(look);
            if self.has_nobody() || waits && !self.pause_for_calls(wait).await {
                return None;
            }
            look += 1;
            match self.wire.poll(&self.id).await {
                Ok(status) if status.refused.is_some() => {
                    let refusal = status.refused.unwrap_or_default();
                    self.refused(&refusal).await;
                    return None;
                }
                Ok(status) if status.has_ended => {
                    if self.ended_late(&status) {
                        self.is_late();
                    }
                    return Some(status);
                }
                Ok(status) if self.pool.api.once && !self.has_passed(end) => {
                    self.pause(&status.state);
                    return None;
                }
                Ok(_) => {}
                Err(error) if error.category.group() == Group::Transport && !self.pool.api.once => {
                    tracing::warn!(target: "llmnode::batch", batch = self.id, "it cannot be looked at: {error}");
                }
                // It may be paid for: the next process looks at the same batch.
                Err(error) => {
                    self.fail_all(&Failed::unread(&self.id, &error));
                    return None;
                }
            }
            if self.has_passed(end) {
                return self.too_late().await;
            }
        }
    }

    fn pause(&mut self, state: &str) {
        let message = format!(
            "the batch {} is {state}; start the map again with the same journal to go on",
            self.id
        );
        let failed = Failed::new(Category::Paused, message, FailedCost::Later);
        self.fail_all(&failed);
    }

    /// The batch has had its time: it is cancelled, and what is there is read.
    async fn too_late(&mut self) -> Option<BatchStatus> {
        self.is_late();
        let was_given_up = self.was_given_up();
        if self.cancelled.is_none() {
            self.cancel().await;
        }
        let is_given_up = was_given_up || self.cannot_be_cancelled();
        let wait = self.cancel_wait();
        let end = self.pool.clock.now().checked_add(wait);
        loop {
            let status = self.wire.poll(&self.id).await;
            if let Ok(status) = &status
                && status.has_ended
            {
                return Some(status.clone());
            }
            let once = self.pool.api.once;
            if is_given_up || !once && self.has_passed(end) {
                let failed = self.never_ended();
                self.fail_all(&failed);
                return None;
            }
            if once {
                let state = match self.cancelled {
                    Some(_) => "being cancelled",
                    None => "late, and cannot be cancelled",
                };
                self.pause(state);
                return None;
            }
            if !self.pause_for_calls(wait / CANCEL_LOOKS).await {
                return None;
            }
        }
    }

    /// The journal has when it was cancelled: a process that does not wait for its end leaves it to a later one.
    async fn cancel(&mut self) {
        if let Err(error) = self.wire.cancel(&self.id).await {
            tracing::warn!(target: "llmnode::batch", batch = self.id, "it cannot be cancelled: {error}");
            return;
        }
        self.cancelled = Some(SystemTime::now());
        self.recorder
            .record(&RunEvent::BatchCancelled { name: &self.name });
        if let Err(fault) = self.recorder.write().await {
            tracing::warn!(target: "llmnode::journal", "{fault}");
        }
    }

    /// Whether it ended when its time was over. How late it is looked at says nothing: what it left is as of one that was waited for.
    fn ended_late(&self, status: &BatchStatus) -> bool {
        let times = status.ended.zip(self.submitted);
        let took = times.and_then(|(ended, submitted)| ended.duration_since(submitted).ok());
        self.cancelled.is_some() || took.is_some_and(|took| took >= self.pool.api.within)
    }

    fn is_late(&mut self) {
        self.is_late = true;
        if self.pool.api.at_once {
            self.pool.ask_directly(self.waiting.keys());
        }
    }

    fn has_passed(&self, end: Option<Instant>) -> bool {
        end.is_some_and(|end| self.pool.clock.now() >= end)
    }

    fn cancel_wait(&self) -> Duration {
        CANCEL_WAIT.min(self.pool.api.within)
    }

    /// Whether its cancel has had its time, too, before this look. A process that does not wait for that cancels it, and a later one
    /// finds in the journal when that was, however late it comes.
    fn was_given_up(&self) -> bool {
        let since = self
            .cancelled
            .and_then(|cancelled| cancelled.elapsed().ok());
        self.pool.api.once && since.is_some_and(|since| since >= self.cancel_wait())
    }

    /// Where its provider refused the cancel, a process that does not wait goes by the age of the batch.
    fn cannot_be_cancelled(&self) -> bool {
        let age = self
            .submitted
            .and_then(|submitted| submitted.elapsed().ok());
        let most = self.pool.api.within.saturating_add(self.cancel_wait());
        self.pool.api.once && self.cancelled.is_none() && age.is_some_and(|age| age >= most)
    }

    /// What such a batch answered may be paid for. So its lines are sent a second time only if the program wants answers now.
    fn never_ended(&self) -> Failed {
        let Batch { id, pool, .. } = self;
        let within = pool.api.within;
        let wait = self.cancel_wait();
        let what = match self.cancelled {
            Some(_) => format!(
                "the batch {id} did not end within {within:?}, nor {wait:?} after it was cancelled"
            ),
            None => {
                format!("the batch {id} did not end within {within:?}, and could not be cancelled")
            }
        };
        if self.pool.api.at_once {
            let message = format!("{what}; what it may have answered is unknown");
            return Failed {
                retry: Some(Retry::Adapted),
                ..Failed::new(Category::Timeout, message, FailedCost::Unknown)
            };
        }
        let message = format!(
            "{what}, and may be paid for; start the map again with the same journal to look at it once more, or with \
             `.then_at_once()` to ask directly, which may pay twice"
        );
        Failed::new(Category::Timeout, message, FailedCost::Later).later()
    }
}
