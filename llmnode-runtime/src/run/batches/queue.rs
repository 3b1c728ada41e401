//! What is learned of the queue in which a provider holds the batches of one model.
//!
//! A provider bounds how much of a model may wait in it, and says by how much only when an order is refused. So all orders go at
//! once at first. One that is refused beside others waits until one of those has ended, and from then on no more go at the same
//! time than fitted in. One that is refused alone is too large: later ones have half as many lines.

use std::sync::{Arc, Mutex};

use llmnode_model::internal::lock;

/// An order is not made smaller than this for a queue that is full.
const SMALLEST_ORDER: usize = 100;

/// The queue of one model, at one provider.
#[derive(Debug, Default)]
pub(super) struct Queue {
    learned: Mutex<Learned>,
}

#[derive(Debug, Default)]
struct Learned {
    /// Orders that were sent and have not ended, as far as is known.
    under_way: usize,
    /// How many have left it in all, other than refused.
    ended: usize,
    /// How many fit in at the same time. `None`: none was refused so far.
    most_orders: Option<usize>,
    /// How many lines an order may have. `None`: none was too large so far.
    most_lines: Option<usize>,
}

impl Queue {
    /// How many more orders may be sent now.
    pub(super) fn room(&self) -> usize {
        let learned = lock(&self.learned);
        let most = learned.most_orders.unwrap_or(usize::MAX);
        most.saturating_sub(learned.under_way)
    }

    pub(super) fn most_lines(&self) -> Option<usize> {
        lock(&self.learned).most_lines
    }
}

/// An order's place in the queue, until it is dropped.
pub(super) struct InQueue {
    queue: Arc<Queue>,
    /// As the order came.
    ended_before: usize,
    was_refused: bool,
}

impl InQueue {
    pub(super) fn enter(queue: &Arc<Queue>) -> Self {
        let learned = &mut *lock(&queue.learned);
        learned.under_way += 1;
        InQueue {
            queue: Arc::clone(queue),
            ended_before: learned.ended,
            was_refused: false,
        }
    }

    /// The order was refused, since the queue is full. `false`: it is small and alone, so that sending it again is of no use.
    pub(super) fn was_refused(mut self, lines: usize) -> bool {
        self.was_refused = true;
        let learned = &mut *lock(&self.queue.learned);
        // It was refused as it came, and that is seen later: others that were there may have ended meanwhile.
        let others = learned.under_way - 1 + learned.ended - self.ended_before;
        if others > 0 {
            let most = learned.most_orders.unwrap_or(usize::MAX);
            learned.most_orders = Some(most.min(others));
            return true;
        }
        learned.most_orders = None;
        learned.most_lines = Some((lines / 2).max(SMALLEST_ORDER));
        lines > SMALLEST_ORDER
    }
}

impl Drop for InQueue {
    fn drop(&mut self) {
        let learned = &mut *lock(&self.queue.learned);
        learned.under_way -= 1;
        if !self.was_refused {
            learned.ended += 1;
        }
    }
}
