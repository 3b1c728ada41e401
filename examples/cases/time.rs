//! The time of one call: requests take real time, waits none.

use std::future::pending;
use std::time::{Duration, Instant};

use llmnode::{BoxFuture, Clock, TestClock};

/// A clock whose waits cost no time, and count against the call's deadline all the same.
#[derive(Clone)]
pub(crate) struct CallClock {
    waits: TestClock,
    began: Instant,
    deadline: Duration,
}

impl CallClock {
    /// The clock of a call that begins now.
    pub(crate) fn new(deadline: Option<Duration>) -> CallClock {
        let deadline = deadline.unwrap_or(Duration::MAX);
        CallClock {
            waits: TestClock::new(),
            began: Instant::now(),
            deadline,
        }
    }

    pub(crate) fn waits(&self) -> Vec<Duration> {
        self.waits.waits()
    }

    fn left(&self) -> Duration {
        self.deadline
            .saturating_sub(self.began.elapsed() + self.waits().iter().sum::<Duration>())
    }

    /// Comes when the deadline passes.
    pub(crate) async fn deadline(&self) {
        if self.deadline == Duration::MAX {
            pending().await
        }
        while !self.left().is_zero() {
            tokio::time::sleep(self.left()).await;
        }
    }
}

impl Clock for CallClock {
    fn now(&self) -> Instant {
        self.waits.now()
    }

    fn sleep(&self, wait: Duration) -> BoxFuture<'_, ()> {
        // A wait beyond the deadline ends with it.
        if wait >= self.left() {
            Box::pin(pending())
        } else {
            self.waits.sleep(wait)
        }
    }

    fn until(&self, time: Instant) -> BoxFuture<'_, ()> {
        self.waits.until(time)
    }
}
