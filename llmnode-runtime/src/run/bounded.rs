//! The futures of many items, of which a bounded number is under way.

use std::convert::identity;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use llmnode_model::BoxFuture;
use llmnode_model::internal::catch_panic;

use super::batches::Drivers;
use super::map_control::MapControl;
use super::pool::Pool;
use super::progress::ProgressCounter;
use crate::error::{ErrorInternals as _, NodeError};

/// How many items are under way at most by default.
pub const CONCURRENCY: usize = 8;

/// `None` is final: the source is not asked again.
pub(super) type Source<'r, R> =
    Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<BoxFuture<'r, R>>> + Send + 'r>;

/// The outcome of one item.
pub trait ItemOutcome: Sized {
    /// The output of an item that succeeded.
    type Output;

    /// Whether it is an error.
    fn has_failed(&self) -> bool;

    /// Creates the outcome of an item that never began.
    fn failed(error: NodeError) -> Self;

    /// Adds the item's index to its error.
    fn of_item(self, index: usize) -> Self;

    /// Returns the output, or the error.
    fn into_result(self) -> Result<Self::Output, NodeError>;
}

impl<T> ItemOutcome for Result<T, NodeError> {
    type Output = T;

    fn has_failed(&self) -> bool {
        self.is_err()
    }

    fn failed(error: NodeError) -> Self {
        Err(error)
    }

    fn of_item(self, index: usize) -> Self {
        self.map_err(|error| error.of_item(index))
    }

    fn into_result(self) -> Self {
        self
    }
}

/// The futures of many items. An item is asked for only when there is room for it;
/// dropping this cancels all that are under way.
pub struct BoundedFutures<'r, R> {
    /// `None`: there are no more items.
    source: Option<Source<'r, R>>,
    pool: Pool<'r, R>,
    /// How many items were taken, so the index of the next one.
    begun: usize,
    concurrency: usize,
    counter: ProgressCounter<'r>,
    /// Of a map: it may hold items back.
    control: Option<Arc<MapControl>>,
    /// The source has no item yet, and wakes the task.
    is_waiting: bool,
    /// Of a map over a batch API.
    batches: Option<Drivers>,
}

impl<'r, R: ItemOutcome> BoundedFutures<'r, R> {
    /// The futures that the source gives.
    pub fn new(source: Source<'r, R>, concurrency: usize, counter: ProgressCounter<'r>) -> Self {
        let concurrency = concurrency.max(1);
        BoundedFutures {
            source: Some(source),
            pool: Pool::new(),
            begun: 0,
            concurrency,
            counter,
            control: None,
            is_waiting: false,
            batches: None,
        }
    }

    pub(super) fn controlled(self, control: Arc<MapControl>) -> Self {
        let batches = control.batches().map(|pool| Drivers::new(Arc::clone(pool)));
        BoundedFutures {
            control: Some(control),
            batches,
            ..self
        }
    }

    fn has_room(&self, wait: usize) -> bool {
        let in_flight = self.pool.len() + wait;
        match &self.control {
            Some(control) => control.has_room(in_flight),
            None => in_flight < self.concurrency,
        }
    }

    /// The next item that ends. `wait`: items that have ended and are not yet
    /// taken; they count as running.
    ///
    /// Items are begun first, as long as there is room, and then those under way
    /// are polled. Where all of these wait, something may have changed meanwhile
    /// that lets others begin (a call left its gate), or only this loop can end the
    /// wait: all calls wait for each other to show whether a journal is of this
    /// map, or whether a server is down. Only if none of that is so, it is pending.
    pub(super) fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        wait: usize,
    ) -> Poll<Option<(usize, R)>> {
        // Lets other tasks run now and then, even if no item ever waits.
        ready!(pin!(tokio::task::consume_budget()).poll(cx));
        self.counter.begin();
        loop {
            if let Some(panicked) = self.fill(cx, wait) {
                return Poll::Ready(Some(panicked));
            }
            if self.pool.len() == 0 && self.source.is_none() {
                if let Some(batches) = &mut self.batches {
                    ready!(batches.poll_end(cx));
                }
                return Poll::Ready(None);
            }
            match self.pool.poll_next(cx) {
                Poll::Ready((index, result)) => {
                    return Poll::Ready(Some(self.ended(index, result)));
                }
                // A call that waited at a gate may have left it meanwhile.
                Poll::Pending if self.may_fill(wait) => {}
                Poll::Pending if self.decides_changes() => {}
                Poll::Pending if self.gives_up_undecided() => {}
                Poll::Pending => {
                    self.poll_batches(cx);
                    self.report_held();
                    return Poll::Pending;
                }
            }
        }
    }

    /// All that could be done now is done: perhaps all calls wait for a batch.
    fn poll_batches(&mut self, cx: &mut Context<'_>) {
        let Some(batches) = &mut self.batches else {
            return;
        };
        batches.poll(cx, self.pool.len(), self.is_waiting);
        let (waiting, under_way) = batches.count();
        let is_forced = match batches.limit_holds() {
            Some(items) => self.counter.limit_holds(items),
            None => false,
        };
        if self.counter.update_batches(waiting, under_way) || is_forced {
            self.count_in_flight();
            self.counter.report();
        }
    }

    fn may_fill(&self, wait: usize) -> bool {
        self.control.is_some() && self.source.is_some() && !self.is_waiting && self.has_room(wait)
    }

    /// All calls wait to see whether one of them finds its answer in the journal, and none does.
    fn decides_changes(&self) -> bool {
        match &self.control {
            Some(control) => control.settles_changes(self.pool.len()),
            None => false,
        }
    }

    /// All calls that are left failed before it was known whether the server is
    /// down, and none will tell.
    fn gives_up_undecided(&self) -> bool {
        let has_more = self.source.is_some() && !self.is_waiting;
        match &self.control {
            Some(control) if !has_more => control.undecided().give_up(self.pool.len()),
            _ => false,
        }
    }

    /// Begins items while there is room. Returns the outcome of one that could not be taken.
    fn fill(&mut self, cx: &mut Context<'_>, wait: usize) -> Option<(usize, R)> {
        self.is_waiting = false;
        while self.has_room(wait) {
            let source = self.source.as_mut()?;
            match catch_panic(|| source(cx)) {
                Ok(Poll::Ready(Some(future))) => {
                    self.pool.push(self.begun, future);
                    self.begun += 1;
                    if let Some(control) = &self.control
                        && control.takes_one_by_one()
                    {
                        break;
                    }
                }
                Ok(Poll::Ready(None)) => self.source = None,
                Ok(Poll::Pending) => {
                    self.is_waiting = true;
                    break;
                }
                // Not polled again: it may panic every time.
                Err(panic_message) => {
                    self.source = None;
                    let index = self.begun;
                    self.begun += 1;
                    let panicked = NodeError::items_panicked(&panic_message);
                    return Some(self.ended(index, R::failed(panicked)));
                }
            }
        }
        None
    }

    fn report_held(&mut self) {
        if self.count_in_flight() {
            self.counter.report();
        }
    }

    /// Returns whether items are held back until another time than before.
    fn count_in_flight(&mut self) -> bool {
        let held_until = match &self.control {
            Some(control) => control.held_until(),
            None => None,
        };
        self.counter.update(self.pool.len(), held_until)
    }

    fn ended(&mut self, index: usize, result: R) -> (usize, R) {
        let failed = result.has_failed();
        if let Some(control) = &self.control {
            control.warm_up().end();
            if !failed {
                control.succeeded();
            }
        }
        self.count_in_flight();
        self.counter.ended(failed);
        (index, result.of_item(index))
    }

    /// All results, in the order of the items.
    pub async fn all(self) -> Vec<R> {
        self.all_as(identity).await
    }

    /// The same, where only a part of each result is kept.
    pub(super) async fn all_as<K>(mut self, keep: impl Fn(R) -> K) -> Vec<K> {
        let mut results = Vec::new();
        while let Some((index, result)) = poll_fn(|cx| self.poll_next(cx, 0)).await {
            let length = results.len().max(self.begun);
            results.resize_with(length, || None);
            results[index] = Some(keep(result));
        }
        results.into_iter().flatten().collect()
    }

    /// All outputs in the order of the items, or the error of the item that failed first, in time.
    pub async fn try_all(self) -> Result<Vec<R::Output>, NodeError> {
        self.try_all_as(identity).await
    }

    /// The same, where only a part of each output is kept.
    pub(super) async fn try_all_as<K>(
        mut self,
        keep: impl Fn(R::Output) -> K,
    ) -> Result<Vec<K>, NodeError> {
        let mut outputs = Vec::new();
        while let Some((index, result)) = poll_fn(|cx| self.poll_next(cx, 0)).await {
            let output = result.into_result()?;
            let length = outputs.len().max(self.begun);
            outputs.resize_with(length, || None);
            outputs[index] = Some(keep(output));
        }
        Ok(outputs.into_iter().flatten().collect())
    }
}
