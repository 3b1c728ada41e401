//! Futures that run side by side in one task, each polled only when it was woken.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::stream::{FuturesUnordered, Stream as _};
use llmnode_model::BoxFuture;

/// The futures under way. They come back in the order in which they end, each with its tag.
pub(super) struct Pool<'r, T>(FuturesUnordered<Tagged<'r, T>>);

struct Tagged<'r, T> {
    tag: usize,
    future: BoxFuture<'r, T>,
}

impl<T> Future for Tagged<'_, T> {
    type Output = (usize, T);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let future = self.future.as_mut();
        let value = ready!(future.poll(cx));
        Poll::Ready((self.tag, value))
    }
}

impl<'r, T> Pool<'r, T> {
    pub(super) fn new() -> Self {
        Pool(FuturesUnordered::new())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn push(&mut self, tag: usize, future: BoxFuture<'r, T>) {
        self.0.push(Tagged { tag, future });
    }

    /// The next one that ends. Pending also where there is none: another may be pushed.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<(usize, T)> {
        let futures = Pin::new(&mut self.0);
        match ready!(futures.poll_next(cx)) {
            Some(ended) => Poll::Ready(ended),
            None => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Waker;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    /// Pending as often as it says, and how it wakes itself each time: at once,
    /// from another task, or twice.
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
            if polls == 10 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
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

    #[test]
    fn costs_time_for_the_woken_not_for_all() {
        let mut pool = Pool::new();
        (0..50_000).for_each(|tag| pool.push(tag, Box::pin(std::future::ready(()))));
        let mut cx = Context::from_waker(Waker::noop());
        let began = std::time::Instant::now();
        while pool.poll_next(&mut cx).is_ready() {}
        assert_eq!(pool.len(), 0);
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "{:?} for 50,000 that ended",
            began.elapsed()
        );
    }
}
