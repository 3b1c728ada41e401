//! How many requests of a map wait for a batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// All requests that wait.
#[derive(Debug, Default)]
pub(super) struct ParkedCount(AtomicUsize);

impl ParkedCount {
    pub(super) fn get(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }

    fn add(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    fn subtract(&self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Counts a request as waiting, until the batch lets it go or its call is dropped, whichever comes first.
pub(super) struct ParkedSlot {
    count: Arc<ParkedCount>,
    is_free: AtomicBool,
}

impl ParkedSlot {
    pub(super) fn take(count: &Arc<ParkedCount>) -> Arc<Self> {
        count.add();
        Arc::new(ParkedSlot {
            count: Arc::clone(count),
            is_free: AtomicBool::new(false),
        })
    }

    pub(super) fn leave(&self) {
        if !self.is_free.swap(true, Ordering::Relaxed) {
            self.count.subtract();
        }
    }

    /// The call waits again, for the result.
    pub(super) fn take_again(&self) {
        if self.is_free.swap(false, Ordering::Relaxed) {
            self.count.add();
        }
    }
}

impl Drop for ParkedSlot {
    fn drop(&mut self) {
        self.leave();
    }
}
