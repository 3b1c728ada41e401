//! The progress of many items.

use std::fmt;
use std::time::{Duration, Instant};

use llmnode_model::internal::catch_panic;

use crate::clock::Clock;

/// The progress of a map or of a batch of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchProgress {
    /// How many items have ended, including those that failed.
    pub done: usize,
    /// How many of them failed.
    pub failed: usize,
    /// How many items there are. `None` if the iterator or stream does not know:
    /// `take_while` and `filter` do not.
    pub total: Option<usize>,
    /// How many items are under way.
    pub in_flight: usize,
    /// Until when requests are held back at least, by the run's clock: after a rate
    /// limit or in an outage. `None`: they are not. A batch of flows does not say.
    pub held: Option<Instant>,
    /// How many items wait for an answer of a [batch](crate::BatchApi), or for the
    /// batch to be sent.
    pub waiting: usize,
    /// In how many batches they wait that are under way now.
    pub batches: usize,
    /// How many rounds of batches it takes, one after the other, since a limit
    /// holds fewer items at once than there are, by the most that they can use.
    /// Told when the first is sent. `None`: no limit forces more than one, or
    /// `total` is not known.
    pub forced_batches: Option<usize>,
    /// The time since the first item was taken, by the run's clock.
    pub elapsed: Duration,
}

/// The program's callback.
pub type OnProgress<'r> = Box<dyn FnMut(&BatchProgress) + Send + 'r>;

/// Counts the items that end, and reports them to the callback.
pub struct ProgressCounter<'r> {
    on_progress: Option<OnProgress<'r>>,
    clock: &'r dyn Clock,
    began: Option<Instant>,
    so_far: BatchProgress,
}

impl<'r> ProgressCounter<'r> {
    /// Creates a counter at zero.
    pub fn new(
        on_progress: Option<OnProgress<'r>>,
        total: Option<usize>,
        clock: &'r dyn Clock,
    ) -> Self {
        let so_far = BatchProgress {
            done: 0,
            failed: 0,
            total,
            in_flight: 0,
            held: None,
            waiting: 0,
            batches: 0,
            forced_batches: None,
            elapsed: Duration::ZERO,
        };
        ProgressCounter {
            on_progress,
            clock,
            began: None,
            so_far,
        }
    }

    /// Returns the number of items, where it is known.
    pub fn exact_size(size_hint: impl FnOnce() -> (usize, Option<usize>)) -> Option<usize> {
        let (least, most) = catch_panic(size_hint).ok()?;
        most.filter(|most| *most == least)
    }

    /// Starts the time when the first item is asked for.
    pub fn begin(&mut self) {
        if self.on_progress.is_some() && self.began.is_none() {
            self.began = catch_panic(|| self.clock.now()).ok();
        }
    }

    /// Counts an item that has ended. A panic of the callback does not affect the items.
    pub fn ended(&mut self, failed: bool) {
        self.so_far.done += 1;
        self.so_far.failed += usize::from(failed);
        self.report();
    }

    /// Sets how many items are under way, and until when they are held back.
    /// Returns whether that is another time than before.
    pub fn update(&mut self, in_flight: usize, held: Option<Instant>) -> bool {
        self.so_far.in_flight = in_flight;
        std::mem::replace(&mut self.so_far.held, held) != held
    }

    /// Sets how many items a limit holds at once. Returns whether that forces
    /// several batches, which was not known before.
    pub(super) fn limit_holds(&mut self, items: usize) -> bool {
        let Some(total) = self.so_far.total else {
            return false;
        };
        let left = total.saturating_sub(self.so_far.done);
        if items == 0 || left <= items || self.so_far.forced_batches.is_some() {
            return false;
        }
        let forced = left.div_ceil(items);
        self.so_far.forced_batches = Some(forced);
        tracing::warn!(
            target: "llmnode::batch",
            "{forced} rounds of batches, one after the other, since the limit holds {items} of {left} requests by the most that they can use; \
             raise it, or see `BatchApi::reserve_mean`"
        );
        true
    }

    /// Sets how many items wait in how many batches. Returns whether there are more
    /// or fewer batches than before.
    pub(super) fn update_batches(&mut self, waiting: usize, batches: usize) -> bool {
        self.so_far.waiting = waiting;
        std::mem::replace(&mut self.so_far.batches, batches) != batches
    }

    /// Tells the callback how far the items are.
    pub fn report(&mut self) {
        let Some(on_progress) = &mut self.on_progress else {
            return;
        };
        let told = catch_panic(|| {
            let began = self.began;
            self.so_far.elapsed = began
                .map(|began| self.clock.now().saturating_duration_since(began))
                .unwrap_or_default();
            on_progress(&self.so_far);
        });
        if let Err(panic_message) = told {
            tracing::error!(target: "llmnode::hook", "the function of `on_progress` panicked: {panic_message}");
        }
    }
}

impl fmt::Debug for ProgressCounter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.so_far.fmt(f)
    }
}
