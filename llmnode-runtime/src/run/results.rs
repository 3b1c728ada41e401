//! The results of a map, one after the other.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::bounded::BoundedFutures;
use crate::error::NodeError;

type Next<'r, I> = dyn FnMut(&mut Context<'_>) -> Poll<Option<I>> + Send + 'r;

/// The results of a map, one at a time: in the order of its nodes
/// ([`Map::stream`](crate::Map::stream)), or as its calls end, with the index of
/// each node ([`Map::as_completed`](crate::Map::as_completed)). It is also a
/// [`Stream`](futures_core::Stream). Dropping it cancels all calls under way.
#[must_use = "a map does nothing until its results are asked for"]
pub struct Results<'r, I>(Box<Next<'r, I>>);

impl<'r, I> Results<'r, I> {
    pub(super) fn new(next: impl FnMut(&mut Context<'_>) -> Poll<Option<I>> + Send + 'r) -> Self {
        Results(Box::new(next))
    }

    /// Returns the next result, or `None` after the last one.
    pub async fn next(&mut self) -> Option<I> {
        poll_fn(|cx| (self.0)(cx)).await
    }
}

impl<I> Stream for Results<'_, I> {
    type Item = I;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<I>> {
        (self.0)(cx)
    }
}

impl<I> fmt::Debug for Results<'_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Results").finish_non_exhaustive()
    }
}

/// Puts the results of a map in order. One that waits for an earlier one keeps its
/// place among those under way, so that memory does not grow behind an item that
/// takes long.
pub(super) struct InOrder<'r, T> {
    bounded: BoundedFutures<'r, Result<T, NodeError>>,
    /// From the next result on; `None`: still running.
    ended: VecDeque<Option<Result<T, NodeError>>>,
    /// How many have ended and wait for an earlier one.
    waiting: usize,
    /// How many were returned.
    taken: usize,
}

impl<'r, T> InOrder<'r, T> {
    pub(super) fn new(bounded: BoundedFutures<'r, Result<T, NodeError>>) -> Self {
        InOrder {
            bounded,
            ended: VecDeque::new(),
            waiting: 0,
            taken: 0,
        }
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, NodeError>>> {
        loop {
            if let Some(result) = self.ended.front_mut().and_then(Option::take) {
                self.ended.pop_front();
                self.waiting -= 1;
                self.taken += 1;
                return Poll::Ready(Some(result));
            }
            // The next result is running or has not begun, so something will end.
            match self.bounded.poll_next(cx, self.waiting) {
                Poll::Ready(Some((index, result))) => {
                    let at = index - self.taken;
                    let length = self.ended.len().max(at + 1);
                    self.ended.resize_with(length, || None);
                    self.ended[at] = Some(result);
                    self.waiting += 1;
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}
