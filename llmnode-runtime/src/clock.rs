//! The one clock of a run: every wait goes through it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::BoxFuture;

/// Tells the time of a run, and waits.
pub trait Clock: Send + Sync {
    /// A time that never goes back.
    fn now(&self) -> Instant;

    /// Waits. Dropping the future ends the wait.
    fn sleep(&self, wait: Duration) -> BoxFuture<'_, ()>;
}

/// Tokio's clock, which tokio's tests can pause. The default.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioClock;

impl Clock for TokioClock {
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }

    fn sleep(&self, wait: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(wait))
    }
}

/// A clock whose waits cost no time, for tests over real sockets. It remembers every wait; clones share it.
///
/// ```
/// use std::time::Duration;
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Clock, TestClock};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let clock = TestClock::new();
/// let before = clock.now();
/// clock.sleep(Duration::from_secs(20)).await;
/// assert_eq!(clock.now() - before, Duration::from_secs(20));
/// assert_eq!(clock.waits(), [Duration::from_secs(20)]);
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct TestClock(Arc<Mutex<Waited>>);

#[derive(Debug)]
struct Waited {
    now: Instant,
    waits: Vec<Duration>,
}

impl TestClock {
    /// A clock that stands still between waits.
    pub fn new() -> Self {
        TestClock(Arc::new(Mutex::new(Waited { now: Instant::now(), waits: Vec::new() })))
    }

    /// Every wait so far.
    pub fn waits(&self) -> Vec<Duration> {
        self.lock().waits.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Waited> {
        // Nothing panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for TestClock {
    fn default() -> Self {
        TestClock::new()
    }
}

impl Clock for TestClock {
    fn now(&self) -> Instant {
        self.lock().now
    }

    fn sleep(&self, wait: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut waited = self.lock();
            // A wait beyond the end of time stops the clock rather than the test.
            waited.now = waited.now.checked_add(wait).unwrap_or(waited.now);
            waited.waits.push(wait);
        })
    }
}
