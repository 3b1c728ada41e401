//! The results of a map, one after the other.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::bounded::Bounded;
use crate::error::NodeError;
use crate::text::debug_shows;

/// The results of a map in the order of its nodes: [`Map::stream`](crate::Map::stream). Also a
/// [`Stream`](futures_core::Stream). Dropped, it cancels all calls under way.
#[must_use = "a map does nothing until its results are asked for"]
pub struct Results<'r, T> {
    bounded: Bounded<'r, Result<T, NodeError>>,
    /// From the next result on, as far as calls have ended; `None`: one that is under way.
    ended: VecDeque<Option<Result<T, NodeError>>>,
    /// How many of these have ended.
    waiting: usize,
    taken: usize,
}

impl<'r, T> Results<'r, T> {
    pub(super) fn new(bounded: Bounded<'r, Result<T, NodeError>>) -> Self {
        Results { bounded, ended: VecDeque::new(), waiting: 0, taken: 0 }
    }

    /// The next result; `None`: that was the last one.
    pub async fn next(&mut self) -> Option<Result<T, NodeError>> {
        poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, NodeError>>> {
        loop {
            if let Some(result) = self.ended.front_mut().and_then(Option::take) {
                self.ended.pop_front();
                self.waiting -= 1;
                self.taken += 1;
                return Poll::Ready(Some(result));
            }
            // What is asked for next is under way, or has not begun: something will end.
            match self.bounded.poll_next(cx, self.waiting) {
                Poll::Ready(Some((index, result))) => {
                    let at = index - self.taken;
                    self.ended.resize_with(self.ended.len().max(at + 1), || None);
                    self.ended[at] = Some(result);
                    self.waiting += 1;
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl<T> Stream for Results<'_, T> {
    type Item = Result<T, NodeError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(cx)
    }
}

impl<T> Unpin for Results<'_, T> {}

debug_shows!([T] Results<'_, T>: taken);

/// The results of a map as its calls end: [`Map::as_completed`](crate::Map::as_completed). Also a
/// [`Stream`](futures_core::Stream). Dropped, it cancels all calls under way.
#[must_use = "a map does nothing until its results are asked for"]
pub struct AsCompleted<'r, T>(Bounded<'r, Result<T, NodeError>>);

impl<'r, T> AsCompleted<'r, T> {
    pub(super) fn new(bounded: Bounded<'r, Result<T, NodeError>>) -> Self {
        AsCompleted(bounded)
    }

    /// The next result, with the index of its node; `None`: that was the last one.
    pub async fn next(&mut self) -> Option<(usize, Result<T, NodeError>)> {
        poll_fn(|cx| self.0.poll_next(cx, 0)).await
    }
}

impl<T> Stream for AsCompleted<'_, T> {
    type Item = (usize, Result<T, NodeError>);

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next(cx, 0)
    }
}

impl<T> Unpin for AsCompleted<'_, T> {}

impl<T> fmt::Debug for AsCompleted<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AsCompleted")
    }
}
