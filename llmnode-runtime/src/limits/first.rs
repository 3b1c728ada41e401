//! The first request of a model, under a limit of tokens or money.
//!
//! What a provider adds to a prompt (a system text of its own, what it says of its
//! tools) nobody sees before it has counted a request. Fifty requests at once would
//! each take that much more than they have reserved. So the others wait until the
//! first one has settled or begins to answer, and reserve what it has shown. They
//! wait no longer than [`PATIENCE`], so that a slow answer holds up nobody for
//! long; and each no longer than a part of its own time.
//!
//! A first request that teaches nothing, since it was refused or dropped, is
//! followed by the next one in its place.

use std::collections::HashMap;
use std::pin::pin;
use std::time::{Duration, Instant};

use llmnode_model::internal::lock;

use super::call::CallLimits;
use super::prompt::{Counted, First};
use super::run::RunLimits;
use crate::clock::timeout_at;

const PATIENCE: Duration = Duration::from_secs(5);
/// A request that has a time limit spends at most one part in so many of it on the wait.
const PART: u32 = 4;

/// Held by the first request. Dropped before it [passes](FirstRequest::passes), it
/// leaves its place to the next one.
pub(super) struct FirstRequest<'c> {
    run: &'c RunLimits,
    model: &'c str,
    passed: bool,
}

/// What a request may do that would like to go.
enum Turn {
    /// It is the first one, and goes alone.
    Mine,
    /// Everybody may go.
    Free,
    /// Others may go at that time.
    Until(Instant),
}

impl CallLimits<'_> {
    /// Waits for the first request of the model, or returns that this is it.
    /// `time_limit`: the time that the request has.
    pub(super) async fn first<'c>(
        &'c self,
        model: &'c str,
        time_limit: Option<Duration>,
    ) -> Option<FirstRequest<'c>> {
        if !self.meters.iter().any(|meter| meter.counts_tokens()) {
            return None;
        }
        let now = self.clock.now();
        let patience = match time_limit {
            Some(time_limit) => PATIENCE.min(time_limit / PART),
            None => PATIENCE,
        };
        let end = now.checked_add(patience)?;
        loop {
            // Before the state is read, so that no change of it is missed.
            let mut changed = pin!(self.run.first_changed.notified());
            changed.as_mut().enable();
            match self.turn(model, end) {
                Turn::Free => return None,
                Turn::Mine => {
                    return Some(FirstRequest {
                        run: self.run,
                        model,
                        passed: false,
                    });
                }
                Turn::Until(end) => timeout_at(self.clock, end, None, changed).await?,
            }
        }
    }

    /// Takes the first place, if it is free. `end`: until when this request waits at most.
    fn turn(&self, model: &str, end: Instant) -> Turn {
        let mut counted = lock(&self.run.counted);
        let first = &mut of_model(&mut counted, model).first;
        let now = self.clock.now();
        match *first {
            First::Passed => Turn::Free,
            First::Unasked => {
                *first = First::AskedAt(now);
                Turn::Mine
            }
            First::AskedAt(since) => {
                let end = since
                    .checked_add(PATIENCE)
                    .map_or(end, |of_first| of_first.min(end));
                if now < end {
                    Turn::Until(end)
                } else {
                    Turn::Free
                }
            }
        }
    }
}

impl FirstRequest<'_> {
    /// The others go on.
    pub(super) fn passes(mut self) {
        self.passed = true;
    }
}

impl Drop for FirstRequest<'_> {
    fn drop(&mut self) {
        let mut counted = lock(&self.run.counted);
        of_model(&mut counted, self.model).first = if self.passed {
            First::Passed
        } else {
            First::Unasked
        };
        // Wakers are the executor's code: none is called under the lock.
        drop(counted);
        self.run.first_changed.notify_waiters();
    }
}

pub(super) fn of_model<'m>(
    counted: &'m mut HashMap<String, Counted>,
    model: &str,
) -> &'m mut Counted {
    counted.entry(model.to_owned()).or_default()
}
