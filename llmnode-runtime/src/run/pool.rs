//! Futures that run side by side in one task, each polled only when it was woken.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use llmnode_model::BoxFuture;
use llmnode_model::internal::lock;

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

#[derive(Default)]
struct Woken {
    queue: Mutex<VecDeque<usize>>,
    task: Mutex<Option<Waker>>,
}

impl Woken {
    /// Wakers are code of the executor: none wakes or is dropped under the lock.
    fn set_task_waker(&self, waker: &Waker) {
        let mut task = lock(&self.task);
        if task.as_ref().is_some_and(|known| known.will_wake(waker)) {
            return;
        }
        let before = task.replace(waker.clone());
        drop(task);
        drop(before);
    }
}

struct SlotWaker {
    slot: usize,
    /// Keeps a slot from being queued twice.
    queued: AtomicBool,
    woken: Arc<Woken>,
}

impl Wake for SlotWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.enqueue() {
            let task = lock(&self.woken.task).clone();
            if let Some(task) = task {
                task.wake();
            }
        }
    }
}

impl SlotWaker {
    /// `false`: it is queued already.
    fn enqueue(&self) -> bool {
        let queued = self.queued.swap(true, Ordering::AcqRel);
        if !queued {
            lock(&self.woken.queue).push_back(self.slot);
        }
        !queued
    }
}

impl<'r, T> Pool<'r, T> {
    pub(super) fn new() -> Self {
        Pool { slots: Vec::new(), free: Vec::new(), woken: Arc::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Adds a future; the next [`poll_next`](Pool::poll_next) starts it.
    pub(super) fn push(&mut self, tag: usize, future: BoxFuture<'r, T>) {
        let slot = self.free.pop().unwrap_or_else(|| {
            let slot = self.slots.len();
            let waker = SlotWaker { slot, queued: AtomicBool::new(false), woken: Arc::clone(&self.woken) };
            self.slots.push(Slot { future: None, waker: Arc::new(waker) });
            slot
        });
        self.slots[slot].future = Some((tag, future));
        self.slots[slot].waker.enqueue();
    }

    /// The next future that has ended. Pending for ever if the pool is empty.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<(usize, T)> {
        self.woken.set_task_waker(cx.waker());
        // Futures that are woken meanwhile wait for the next poll: one that always wakes itself would otherwise keep the task
        // here for ever.
        let woken = lock(&self.woken.queue).len();
        for _ in 0..woken {
            let Some(slot) = lock(&self.woken.queue).pop_front() else { break };
            if let Some(done) = self.poll_slot(slot) {
                return Poll::Ready(done);
            }
        }
        Poll::Pending
    }

    fn poll_slot(&mut self, index: usize) -> Option<(usize, T)> {
        let slot = &mut self.slots[index];
        // Not a mere store: what a waker did before it found the slot queued has to be visible to this poll.
        slot.waker.queued.swap(false, Ordering::AcqRel);
        let (tag, future) = slot.future.as_mut()?;
        let waker = Waker::from(Arc::clone(&slot.waker));
        let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) else { return None };
        let tag = *tag;
        slot.future = None;
        self.free.push(index);
        Some((tag, value))
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn};
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    /// Pending as often as it says, and how it wakes itself each time: at once, from another task, or twice.
    async fn restless(wakes: Vec<u8>) {
        for how in wakes {
            let mut pending = true;
            poll_fn(|cx| {
                if !std::mem::take(&mut pending) {
                    return Poll::Ready(());
                }
                let waker = cx.waker().clone();
                match how {
                    0 => waker.wake(),
                    1 => drop(tokio::spawn(async move { waker.wake() })),
                    2 => drop(std::thread::spawn(move || waker.wake())),
                    _ => {
                        waker.wake_by_ref();
                        drop(tokio::spawn(async move { waker.wake() }));
                    }
                }
                Poll::Pending
            })
            .await;
        }
    }

    async fn all(schedule: Vec<Vec<u8>>, bound: usize) -> Vec<usize> {
        let mut pool = Pool::new();
        let mut ended = Vec::new();
        for (tag, wakes) in schedule.into_iter().enumerate() {
            if pool.len() == bound {
                ended.push(poll_fn(|cx| pool.poll_next(cx)).await.0);
            }
            pool.push(tag, Box::pin(restless(wakes)));
        }
        while pool.len() > 0 {
            ended.push(poll_fn(|cx| pool.poll_next(cx)).await.0);
        }
        ended
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_future_ends_once_however_it_is_woken(
            schedule in prop::collection::vec(prop::collection::vec(0..4_u8, 0..6), 0..40),
            bound in 1..12_usize,
        ) {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build();
            let count = schedule.len();
            let mut ended = runtime.unwrap().block_on(async {
                let ended = tokio::spawn(all(schedule, bound));
                tokio::time::timeout(Duration::from_secs(20), ended).await
            }).expect("no wake is lost").unwrap();
            ended.sort_unstable();
            prop_assert_eq!(ended, (0..count).collect::<Vec<_>>());
        }
    }

    #[tokio::test]
    async fn a_future_that_always_wakes_itself_does_not_keep_the_task() {
        let mut pool = Pool::<()>::new();
        pool.push(
            0,
            Box::pin(poll_fn(|cx| {
                cx.waker().wake_by_ref();
                Poll::Pending
            })),
        );
        let mut polls = 0;
        poll_fn(|cx| {
            polls += 1;
            assert!(pool.poll_next(cx).is_pending());
            if polls == 10 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        assert_eq!(polls, 10, "each poll of it wakes the task again");
    }

    #[tokio::test]
    async fn woken_futures_take_turns() {
        let mut pool = Pool::new();
        for tag in 0..3 {
            pool.push(tag, Box::pin(std::future::ready(())));
        }
        let mut order = Vec::new();
        for tag in 3..6 {
            order.push(poll_fn(|cx| pool.poll_next(cx)).await.0);
            pool.push(tag, Box::pin(std::future::ready(())));
        }
        assert_eq!(order, [0, 1, 2], "what was pushed later does not overtake");
    }

    /// An executor may poll inside `wake`, and then asks the pool for its lock.
    struct Inline(Arc<Woken>);

    impl Wake for Inline {
        fn wake(self: Arc<Self>) {
            drop(self.0.task.try_lock().expect("no lock is held while a task is woken"));
            drop(self.0.queue.try_lock().expect("no lock is held while a task is woken"));
        }
    }

    #[test]
    fn no_lock_is_held_while_the_task_is_woken() {
        let mut pool = Pool::<()>::new();
        pool.push(0, Box::pin(pending()));
        let waker = Waker::from(Arc::new(Inline(Arc::clone(&pool.woken))));
        assert!(pool.poll_next(&mut Context::from_waker(&waker)).is_pending());
        pool.slots[0].waker.wake_by_ref();
    }

    #[test]
    fn costs_time_for_the_woken_not_for_all() {
        let mut pool = Pool::new();
        (0..50_000).for_each(|tag| pool.push(tag, Box::pin(std::future::ready(()))));
        let mut cx = Context::from_waker(Waker::noop());
        let began = std::time::Instant::now();
        while pool.poll_next(&mut cx).is_ready() {}
        assert_eq!(pool.len(), 0);
        assert!(began.elapsed() < Duration::from_secs(5), "{:?} for 50,000 that ended", began.elapsed());
    }
}
