//! Futures that run side by side in one task, each polled only when it was woken.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use crate::BoxFuture;

/// A set of futures with tags. Polling costs time for the woken ones, not for all.
pub(super) struct Pool<'r, T> {
    slots: Vec<Slot<'r, T>>,
    free: Vec<usize>,
    woken: Arc<Woken>,
}

struct Slot<'r, T> {
    future: Option<(usize, BoxFuture<'r, T>)>,
    waker: Arc<SlotWaker>,
}

/// The slots to poll, and the task to tell.
#[derive(Default)]
struct Woken {
    queue: Mutex<Vec<usize>>,
    task: Mutex<Option<Waker>>,
}

struct SlotWaker {
    slot: usize,
    /// So that a slot stands in the queue at most once.
    queued: AtomicBool,
    woken: Arc<Woken>,
}

impl Wake for SlotWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            lock(&self.woken.queue).push(self.slot);
            if let Some(task) = &*lock(&self.woken.task) {
                task.wake_by_ref();
            }
        }
    }
}

impl<'r, T> Pool<'r, T> {
    pub(super) fn new() -> Self {
        Pool { slots: Vec::new(), free: Vec::new(), woken: Arc::default() }
    }

    /// How many futures have not ended.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn push(&mut self, tag: usize, future: BoxFuture<'r, T>) {
        let slot = self.free.pop().unwrap_or_else(|| {
            let slot = self.slots.len();
            let waker = SlotWaker { slot, queued: AtomicBool::new(false), woken: Arc::clone(&self.woken) };
            self.slots.push(Slot { future: None, waker: Arc::new(waker) });
            slot
        });
        self.slots[slot].future = Some((tag, future));
        self.slots[slot].waker.wake_by_ref();
    }

    /// The next future that has ended. Pending for ever if the pool is empty.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<(usize, T)> {
        *lock(&self.woken.task) = Some(cx.waker().clone());
        let mut queue = std::mem::take(&mut *lock(&self.woken.queue)).into_iter();
        while let Some(slot) = queue.next() {
            if let Some(done) = self.poll_slot(slot) {
                // The others stay queued for the next time.
                lock(&self.woken.queue).extend(queue);
                return Poll::Ready(done);
            }
        }
        Poll::Pending
    }

    fn poll_slot(&mut self, index: usize) -> Option<(usize, T)> {
        let slot = &mut self.slots[index];
        slot.waker.queued.store(false, Ordering::Release);
        let (tag, future) = slot.future.as_mut()?;
        let waker = Waker::from(Arc::clone(&slot.waker));
        let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) else { return None };
        let tag = *tag;
        slot.future = None;
        self.free.push(index);
        Some((tag, value))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds the lock.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
