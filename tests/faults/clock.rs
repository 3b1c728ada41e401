//! A clock whose waits yield once and take no time: it goes on by as much as was waited.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use llmnode::{BoxFuture, Clock};

/// Waits for other tasks to have a turn, so that a call can be dropped meanwhile, and adds up the waits that have
/// ended. Clones share the sum.
#[derive(Clone, Default)]
pub(crate) struct TurnClock(Arc<AtomicU64>);

impl TurnClock {
    /// The sum of all waits that have ended.
    pub(crate) fn waited(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

impl Clock for TurnClock {
    fn now(&self) -> Instant {
        Instant::now() + self.waited()
    }

    fn sleep(&self, wait: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.0.fetch_add(
                u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX),
                Ordering::Relaxed,
            );
        })
    }
}
