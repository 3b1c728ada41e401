//! The time by which a call has to end: all of its attempts and waits together, by
//! the clock of the run.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::refusal::Scope;
use crate::clock::{Clock, StoppedTime, timeout_at};
use crate::ledger::CallGuard;

/// When, and for the message: how long the call had, and which call it is.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    end: Instant,
    duration: Duration,
    call: Cow<'static, str>,
    /// Set in a map over a batch API: it stands still meanwhile.
    stopped: Option<Arc<StoppedTime>>,
}

impl Deadline {
    /// `None`: later than the clock can count.
    pub(crate) fn new(call: Cow<'static, str>, began: Instant, duration: Duration) -> Option<Self> {
        Some(Deadline {
            end: began.checked_add(duration)?,
            duration,
            call,
            stopped: None,
        })
    }

    /// While this time is stopped, the deadline is, too.
    pub(crate) fn stopped_by(self, stopped: Option<Arc<StoppedTime>>) -> Self {
        Deadline { stopped, ..self }
    }

    pub(crate) fn of_call(call: &CallGuard<'_>, duration: Duration) -> Option<Self> {
        Deadline::new(call.node().clone(), call.started(), duration)
    }

    pub(crate) fn stopped(&self) -> Option<&Arc<StoppedTime>> {
        self.stopped.as_ref()
    }

    pub(crate) fn end(&self) -> Instant {
        let stopped = self.stopped.as_deref().map(StoppedTime::so_far);
        // Later than the clock can count is as late as it was.
        self.end
            .checked_add(stopped.unwrap_or_default())
            .unwrap_or(self.end)
    }

    fn late(&self) -> String {
        format!(
            "the deadline of {:?} for the call of `{}` has passed; `deadline` sets a longer one",
            self.duration, self.call
        )
    }

    pub(super) fn left(&self, now: Instant) -> TimeLeft {
        let left = self.end().saturating_duration_since(now);
        TimeLeft {
            left,
            scope: Scope::Call(self.call.clone()),
        }
    }
}

/// Ends the work with a message when the deadline passes, if there is one.
pub(crate) async fn before_deadline<F: Future + Unpin>(
    deadline: Option<&Deadline>,
    clock: &dyn Clock,
    work: F,
) -> Result<F::Output, String> {
    let Some(deadline) = deadline else {
        return Ok(work.await);
    };
    let stopped = deadline.stopped.as_deref();
    let outcome = timeout_at(clock, deadline.end(), stopped, work).await;
    outcome.ok_or_else(|| deadline.late())
}

/// How much time is left, and for what: the call or the run.
pub(crate) struct TimeLeft {
    pub(super) left: Duration,
    pub(super) scope: Scope,
}

impl TimeLeft {
    /// Why a wait makes no sense. `None`: there is time for it.
    pub(crate) fn outlasted_by(&self, wait: Duration) -> Option<String> {
        let TimeLeft { left, scope } = self;
        (wait >= *left).then(|| {
            format!("the wait of {wait:.1?} would outlast the {left:.1?} left for {scope}")
        })
    }
}
