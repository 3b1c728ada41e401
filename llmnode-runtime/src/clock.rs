//! The clock of a run: every wait and every time limit goes through it.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use llmnode_model::BoxFuture;
use tokio::sync::Notify;

use stalled::{Life, Watched};

mod stalled;

/// The time of a run, and its waits. The default is tokio's clock, which tokio's tests can pause.
pub trait Clock: Send + Sync {
    /// Returns the time, which never goes back.
    fn now(&self) -> Instant;

    /// Waits. Dropping the future ends the wait.
    fn sleep(&self, wait: Duration) -> BoxFuture<'_, ()>;

    /// Waits until a time. Deadlines use it. The default sleeps until then. A clock whose `sleep` takes no time must
    /// implement it, and let it end only when other waits have reached that time. Otherwise every request with a deadline
    /// would end at once.
    fn until(&self, time: Instant) -> BoxFuture<'_, ()> {
        self.sleep(time.saturating_duration_since(self.now()))
    }

    /// Waits as long as work may take that goes on outside of the run, such as that of a database. This takes real time, whatever the
    /// clock does.
    #[doc(hidden)]
    fn outside(&self, longest: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(longest))
    }

    /// Waits for what never comes. The default never ends. A clock whose waits take no time moves to each awaited time, and ends when
    /// there is none.
    #[doc(hidden)]
    fn never(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

/// Does some work until `end`. `None`: the end came first. If it has passed already, the work does not begin. While the time is stopped,
/// the end moves.
///
/// Whoever calls it pins the work: a future that is passed by value is stored again in each future that it passes through.
pub(crate) fn timeout_at<'c, F: Future + Unpin>(
    clock: &'c dyn Clock,
    end: Instant,
    stopped: Option<&'c StoppedTime>,
    mut work: F,
) -> impl Future<Output = Option<F::Output>> {
    let mut limit = (clock.now() < end).then(|| TimeLimit::new(clock, end, stopped));
    poll_fn(move |cx| {
        let Some(limit) = &mut limit else {
            return Poll::Ready(None);
        };
        if let Poll::Ready(outcome) = Pin::new(&mut work).poll(cx) {
            return Poll::Ready(Some(outcome));
        }
        limit.poll(cx).map(|()| None)
    })
}

/// When some work has to be done.
struct TimeLimit<'c> {
    clock: &'c dyn Clock,
    /// Later by every wait in which the time was stopped.
    end: Instant,
    stopped: Option<&'c StoppedTime>,
    /// The stopped time that is part of the end, or was over before.
    counted: Duration,
    /// `None`: the time is stopped.
    timer: Option<BoxFuture<'c, ()>>,
}

impl<'c> TimeLimit<'c> {
    fn new(clock: &'c dyn Clock, end: Instant, stopped: Option<&'c StoppedTime>) -> Self {
        TimeLimit {
            clock,
            end,
            stopped,
            counted: stopped.map(StoppedTime::so_far).unwrap_or_default(),
            timer: Some(clock.until(end)),
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(stopped) = self.stopped {
            if stopped.is_stopped() {
                self.timer = None;
                return Poll::Pending;
            }
            let so_far = stopped.so_far();
            if so_far > self.counted {
                self.timer = None;
                let Some(end) = self.end.checked_add(so_far - self.counted) else {
                    // Later than the clock can count.
                    return Poll::Pending;
                };
                self.end = end;
                self.counted = so_far;
            }
        }
        let timer = self.timer.get_or_insert_with(|| self.clock.until(self.end));
        timer.as_mut().poll(cx)
    }
}

/// Times in which a call waits for its batch, and which none of its deadlines and timeouts counts. Only the call itself stops and
/// goes on, while it is polled.
#[derive(Debug, Default)]
pub(crate) struct StoppedTime(Mutex<Stops>);

#[derive(Clone, Copy, Debug, Default)]
struct Stops {
    since: Option<Instant>,
    /// Of the waits that have ended.
    total: Duration,
}

impl StoppedTime {
    /// Until the guard is dropped, no time passes.
    pub(crate) fn stop<'s>(&'s self, clock: &'s dyn Clock) -> Stopped<'s> {
        self.lock().since = Some(clock.now());
        Stopped { time: self, clock }
    }

    /// How long it has been stopped so far, without the wait that goes on.
    pub(crate) fn so_far(&self) -> Duration {
        self.lock().total
    }

    fn is_stopped(&self) -> bool {
        self.lock().since.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Stops> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A wait for a batch.
pub(crate) struct Stopped<'s> {
    time: &'s StoppedTime,
    clock: &'s dyn Clock,
}

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        let now = self.clock.now();
        let stops = &mut *self.time.lock();
        if let Some(since) = stops.since.take() {
            stops.total = stops
                .total
                .saturating_add(now.saturating_duration_since(since));
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TokioClock;

impl Clock for TokioClock {
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }

    fn sleep(&self, wait: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(wait))
    }
}

/// A clock whose waits take no time, for tests over real sockets. Only waits move it, and it records them. Clones
/// share it.
///
/// A deadline passes when other waits reach it: those of retries, and of `Reply::after` and `Reply::never`. Where all that is under way
/// waits for a socket, nothing moves the clock; after a second, the call panics with what to do.
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
pub struct TestClock(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    times: Mutex<Times>,
    moved: Notify,
    life: Life,
}

#[derive(Debug)]
struct Times {
    now: Instant,
    waits: Vec<Duration>,
    awaited: Vec<Instant>,
}

impl TestClock {
    /// Creates a clock that stands still between waits.
    pub fn new() -> Self {
        let times = Times {
            now: Instant::now(),
            waits: Vec::new(),
            awaited: Vec::new(),
        };
        TestClock(Arc::new(Shared {
            times: Mutex::new(times),
            moved: Notify::new(),
            life: Life::new(),
        }))
    }

    /// Returns every wait so far.
    pub fn waits(&self) -> Vec<Duration> {
        self.0.lock().waits.clone()
    }
}

impl Default for TestClock {
    fn default() -> Self {
        TestClock::new()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves to the next time that is awaited. `false`: there is none.
    fn advance_to_next(&self) -> bool {
        let mut times = self.lock();
        let now = times.now;
        let Some(next) = times
            .awaited
            .iter()
            .copied()
            .filter(|time| *time > now)
            .min()
        else {
            return false;
        };
        times.now = next;
        self.life.moved();
        self.moved.notify_waiters();
        true
    }

    /// Moves to the end of a wait, or to the first awaited time before it. Returns whether it reached the end.
    fn advance(&self, end: Instant) -> bool {
        let mut times = self.lock();
        let now = times.now;
        let first = times
            .awaited
            .iter()
            .copied()
            .filter(|time| *time > now && *time < end)
            .min();
        times.now = first.unwrap_or(end).max(now);
        self.life.moved();
        self.moved.notify_waiters();
        first.is_none()
    }
}

impl Watched for Shared {
    fn life(&self) -> &Life {
        &self.life
    }

    fn is_awaited(&self) -> bool {
        !self.lock().awaited.is_empty()
    }

    fn wake(&self) {
        self.moved.notify_waiters();
    }
}

impl Clock for TestClock {
    fn now(&self) -> Instant {
        self.0.lock().now
    }

    fn sleep(&self, wait: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let end = {
                let mut times = self.0.lock();
                times.waits.push(wait);
                times.now.checked_add(wait)
            };
            // A wait beyond the end of time stops the clock rather than the test.
            let Some(end) = end else { return };
            while !self.0.advance(end) {
                // Code that awaits this time runs before it passes.
                tokio::task::yield_now().await;
            }
        })
    }

    fn outside(&self, _: Duration) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }

    fn never(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            while self.0.advance_to_next() {
                // Code that awaits this time runs, and may end the wait.
                tokio::task::yield_now().await;
            }
        })
    }

    fn until(&self, time: Instant) -> BoxFuture<'_, ()> {
        // Registered now, and not at the first poll: a wait beside it may be polled before.
        let awaited = Awaited::new(&self.0, time);
        Box::pin(async move { awaited.comes().await })
    }
}

/// Keeps a time registered until it is dropped.
struct Awaited<'c> {
    shared: &'c Arc<Shared>,
    time: Instant,
}

impl<'c> Awaited<'c> {
    fn new(shared: &'c Arc<Shared>, time: Instant) -> Self {
        shared.lock().awaited.push(time);
        Awaited { shared, time }
    }

    async fn comes(&self) {
        let clock: Weak<Shared> = Arc::downgrade(self.shared);
        let clock: Weak<dyn Watched> = clock;
        let mut reached = pin!(self.reached());
        poll_fn(|cx| {
            let outcome = reached.as_mut().poll(cx);
            if outcome.is_pending() {
                self.shared.life.polled(&clock);
            }
            outcome
        })
        .await;
    }

    async fn reached(&self) {
        loop {
            let moved = self.shared.moved.notified();
            if self.shared.lock().now >= self.time {
                return;
            }
            moved.await;
        }
    }
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        let mut times = self.shared.lock();
        if let Some(at) = times.awaited.iter().position(|time| *time == self.time) {
            times.awaited.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test]
    async fn a_wait_stops_at_each_time_that_is_awaited_before_its_end() {
        let clock = TestClock::new();
        let begin = clock.now();
        let seconds = || (clock.now() - begin).as_secs();
        let at = async |second: u32| {
            clock.until(begin + second * SECOND).await;
            seconds()
        };
        let long = async {
            clock.sleep(10 * SECOND).await;
            seconds()
        };
        let dropped = clock.until(begin + 2 * SECOND);
        drop(dropped);
        assert_eq!(tokio::join!(at(7), at(3), long, at(10)), (7, 3, 10, 10));
        assert_eq!(clock.waits(), [10 * SECOND]);
        assert!(clock.0.lock().awaited.is_empty());
    }

    #[tokio::test]
    #[should_panic(expected = "the clock of this test stands still")]
    async fn a_deadline_that_nothing_can_reach_ends_the_test() {
        let clock = TestClock::new();
        let end = clock.now() + SECOND;
        timeout_at(&clock, end, None, std::future::pending::<()>()).await;
    }

    /// Whoever is polled again and again, as by a socket, is alive, however long it takes. So is one whose runtime is busy.
    #[tokio::test]
    async fn signs_of_life_keep_a_clock_going() {
        let clock = TestClock::new();
        let work = async {
            for _ in 0..15 {
                tokio::time::sleep(Duration::from_millis(150)).await;
            }
            std::thread::sleep(Duration::from_millis(1_500));
            tokio::task::yield_now().await;
        };
        let end = clock.now() + SECOND;
        assert_eq!(timeout_at(&clock, end, None, pin!(work)).await, Some(()));
    }
}
