//! The looks at a batch, until it has ended or its time is over.

use std::sync::Arc;
use std::time::{Duration, Instant};

use llmnode_model::batch::BatchStatus;
use llmnode_model::{Category, Group, Retry};

use super::batch::Batch;
use super::parked::{Failed, FailedCost};

/// How long a batch that was cancelled is given to end.
const CANCEL_WAIT: Duration = Duration::from_secs(60);

impl Batch {
    /// Looks at the batch until it has ended, or its time is over at `end`. `None`: everybody who waited was told something else, or is gone.
    pub(super) async fn until_ended(&mut self, end: Option<Instant>) -> Option<BatchStatus> {
        let clock = Arc::clone(&self.pool.clock);
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
                Ok(status) if status.has_ended => return Some(status),
                Ok(status) if self.pool.api.once => {
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
            if end.is_some_and(|end| clock.now() >= end) {
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
        self.is_late = true;
        if self.pool.api.at_once {
            self.pool.ask_directly(self.waiting.keys());
        }
        let clock = Arc::clone(&self.pool.clock);
        if let Err(error) = self.wire.cancel(&self.id).await {
            tracing::warn!(target: "llmnode::batch", batch = self.id, "it cannot be cancelled: {error}");
        }
        let end = clock.now().checked_add(CANCEL_WAIT);
        loop {
            if let Ok(status) = self.wire.poll(&self.id).await
                && status.has_ended
            {
                return Some(status);
            }
            if end.is_none_or(|end| clock.now() >= end) {
                let failed = self.never_ended();
                self.fail_all(&failed);
                return None;
            }
            if !self.pause_for_calls(CANCEL_WAIT / 12).await {
                return None;
            }
        }
    }

    fn never_ended(&self) -> Failed {
        let message = format!(
            "the batch {} did not end within {:?}, nor {CANCEL_WAIT:?} after it was cancelled; what it may have answered is unknown",
            self.id, self.pool.api.within
        );
        Failed {
            retry: self.pool.api.at_once.then_some(Retry::Adapted),
            ..Failed::new(Category::Timeout, message, FailedCost::Unknown)
        }
    }
}
