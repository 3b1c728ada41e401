//! The tries of a node that asks no model itself: executed again after an error, up to `attempts` times in all.
//!
//! All counts are those of one call, so that calls side by side, of one and the same node too, do not disturb each
//! other.

use std::time::Duration;

use super::cx::Cx;
use super::run::RunCore;
use crate::BoxFuture;
use crate::category::{Category, Group};
use crate::error::NodeError;
use crate::ledger::{CallScope, Degraded};
use crate::limits::CallLimits;
use crate::settings::{Backoff, Settings, wait_before_retry};
use crate::validate::Attempt;

/// The tries of one call.
pub(super) struct Tries<'r> {
    core: &'r RunCore,
    call: &'r CallScope<'r>,
    /// What the call sets.
    settings: &'r Settings,
    limits: CallLimits<'r>,
    attempts: u32,
    backoff: Backoff,
    max_wait: Duration,
    /// Those that have failed.
    failed: u32,
    /// The wait before the one that is under way.
    wait: Duration,
}

/// What follows a try that failed.
pub(super) enum After {
    /// Another one; the wait is over.
    Again,
    /// The node's fallback.
    FallBack(NodeError),
    /// The call ends.
    Bubble(NodeError),
}

impl<'r> Tries<'r> {
    /// The first word wins: call, run, node, default.
    ///
    /// # Errors
    /// A `config_error`, if there is to be no try at all, or more than one of a node that must not be executed again, or
    /// if the wait goes down.
    pub(super) fn begin(
        core: &'r RunCore,
        [settings, node]: [&'r Settings; 2],
        idempotent: bool,
        call: &'r CallScope<'r>,
        limits: CallLimits<'r>,
    ) -> Result<Self, NodeError> {
        let run = &core.settings;
        // The run's word is for nodes of all kinds.
        let runs = run.attempts.map(|attempts| if idempotent { attempts } else { attempts.min(1) });
        let attempts = settings.attempts.or(runs).or(node.attempts).unwrap_or(1);
        let backoff = settings.wait.or(run.wait).or(node.wait);
        let backoff = backoff.unwrap_or(Backoff::fixed(Duration::ZERO));
        let max_wait = settings.max_wait.or(run.max_wait).or(node.max_wait);
        let max_wait = max_wait.unwrap_or(Settings::MAX_WAIT);
        if attempts == 0 {
            let fault =
                "attempts is 0; it counts all executions of the node, the first included: write 1 or more";
            return Err(NodeError::new(Category::ConfigError, fault));
        }
        if attempts > 1 && !idempotent {
            let fault = format!(
                "attempts is {attempts}, but this node is not idempotent: it must not be executed again"
            );
            return Err(NodeError::new(Category::ConfigError, fault));
        }
        if backoff.to < backoff.from {
            return Err(NodeError::new(Category::ConfigError, format!("the wait {backoff} goes down")));
        }
        let wait = Duration::ZERO;
        Ok(Tries { core, call, settings, limits, attempts, backoff, max_wait, failed: 0, wait })
    }

    /// What the node sees while a try is under way.
    pub(super) fn cx<'c, S: ?Sized>(&'c self, state: &'c S) -> Cx<'c, S> {
        let Tries { core, call: scope, settings, limits, .. } = self;
        let attempt = Attempt::new(self.failed, self.attempts - 1);
        Cx { core, state, scope, settings, limits, attempt }
    }

    /// Writes down that it failed, and waits for the next one, if there is to be one. In a box, and so compiled once: a
    /// future that is awaited as it is, is compiled anew in every crate that calls a node.
    pub(super) fn after(&mut self, error: NodeError) -> BoxFuture<'_, After> {
        Box::pin(self.after_error(error))
    }

    async fn after_error(&mut self, mut error: NodeError) -> After {
        // A node that asks models, or stands for others, has tried what there is to try.
        if self.call.tries_itself() {
            return After::Bubble(error);
        }
        self.failed = self.failed.saturating_add(1);
        self.call.failed(self.failed, self.wait, error.category(), error.message());
        if error.category().group() == Group::Stop {
            return After::Bubble(error);
        }
        // A call within that failed was tried again there, as its own settings say.
        if self.failed < self.attempts && !error.is_of_a_call() {
            match self.next_wait(&error) {
                Ok(wait) => {
                    if wait > Duration::ZERO {
                        self.core.clock.sleep(wait).await;
                    }
                    tokio::task::consume_budget().await;
                    self.call.tries_again();
                    self.wait = wait;
                    return After::Again;
                }
                Err(why) => error = error.adding(&why),
            }
        }
        let record = self.call.so_far(error.category());
        After::FallBack(error.of_call_that_made(record, self.call.made()))
    }

    fn next_wait(&self, error: &NodeError) -> Result<Duration, String> {
        let (own, longest) = (self.backoff.wait(self.failed - 1), self.max_wait.max(self.backoff.to));
        wait_before_retry(own, longest, error.retry_after(), self.max_wait, self.limits.time_left())
    }

    /// The fallback gave an output, which is what the call gives.
    pub(super) fn degrade(&self) {
        self.call.degrade(Degraded::FallbackValue);
    }

    /// The fallback failed, too: its error is the call's.
    pub(super) fn fallen(&self, error: NodeError) -> NodeError {
        // The call's end brings the whole record.
        let own = error.record().is_some_and(|record| record.id == self.call.id());
        if own { error.without_record() } else { error }
    }
}
