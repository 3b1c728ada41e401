//! Requests that can be in one order, and how orders are cut from them.

use std::sync::Arc;

use llmnode_model::batch::{BatchLine, BatchWire, OrderLine};

use super::parked::Waiting;
use super::queue::{InQueue, Queue};

/// What stands around the body of a line: its id, its method and its path.
const AROUND: usize = 160;

/// Requests of one model and API, at one provider.
pub(super) struct Group {
    pub(super) wire: Arc<dyn BatchWire>,
    api: &'static str,
    model: String,
    pub(super) waiting: Vec<ParkedLine>,
    queue: Arc<Queue>,
    /// The provider's queue had no room for it.
    is_held: bool,
}

pub(super) struct ParkedLine {
    pub(super) waiting: Waiting,
    body: Vec<u8>,
}

/// An order that is to be sent.
pub(super) struct NewOrder {
    pub(super) wire: Arc<dyn BatchWire>,
    pub(super) api: &'static str,
    pub(super) model: String,
    pub(super) waiting: Vec<Waiting>,
    pub(super) lines: Vec<OrderLine>,
    pub(super) in_queue: InQueue,
}

/// Which orders are cut now.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    /// So many lines are a whole order.
    pub(super) lines: usize,
    /// What is less than a whole order waits for further requests.
    pub(super) only_whole: bool,
}

impl Group {
    pub(super) fn new(wire: Arc<dyn BatchWire>, line: &BatchLine, queue: Arc<Queue>) -> Self {
        Group {
            wire,
            api: line.api,
            model: line.model.clone(),
            waiting: Vec::new(),
            queue,
            is_held: false,
        }
    }

    pub(super) fn is_of(&self, place: usize, line: &BatchLine) -> bool {
        self.wire.place() == place && self.api == line.api && self.model == line.model
    }

    pub(super) fn asks(&self, api: &str, model: &str) -> bool {
        self.api == api && self.model == model
    }

    pub(super) fn park(&mut self, waiting: Waiting, mut body: Vec<u8>) {
        // As many wait as fit into the memory.
        body.shrink_to_fit();
        self.waiting.push(ParkedLine { waiting, body });
    }

    /// Forgets the requests whose calls are gone.
    pub(super) fn forget_gone(&mut self) {
        self.waiting.retain(|line| !line.waiting.is_gone());
    }

    /// Whether the provider's queue had no room for what waits, and has now.
    pub(super) fn was_freed(&mut self) -> bool {
        let is_freed = self.is_held && self.queue.room() > 0;
        self.is_held &= !is_freed;
        is_freed
    }

    /// What waits, in orders that the provider takes, as many as its queue has room for.
    pub(super) fn take_orders(&mut self, cut: Cut, orders: &mut Vec<NewOrder>) {
        let bounds = self.wire.bounds();
        let learned = self.queue.most_lines().unwrap_or(usize::MAX);
        let lines = bounds.lines.min(learned).min(cut.lines);
        let least = match cut.only_whole {
            true => lines,
            false => 1,
        };
        while self.waiting.len() >= least {
            if self.queue.room() == 0 {
                self.is_held = true;
                return;
            }
            // What nobody waits for would be paid for.
            self.forget_gone();
            if self.waiting.len() < least {
                return;
            }
            let count = self.lines_of_order(lines, bounds.bytes);
            orders.push(self.take_order(count));
        }
    }

    /// How many lines the next order has: as many as fit into it, and one at least.
    fn lines_of_order(&self, lines: usize, bytes: usize) -> usize {
        let mut written = 0;
        let mut fitting = 0;
        for line in self.waiting.iter().take(lines) {
            written += line.body.len() + AROUND;
            if written > bytes {
                break;
            }
            fitting += 1;
        }
        fitting.max(1)
    }

    fn take_order(&mut self, count: usize) -> NewOrder {
        let mut waiting = Vec::with_capacity(count);
        let mut lines = Vec::with_capacity(count);
        for line in self.waiting.drain(..count) {
            lines.push(OrderLine {
                id: Arc::clone(&line.waiting.id),
                body: line.body,
            });
            waiting.push(line.waiting);
        }
        NewOrder {
            wire: Arc::clone(&self.wire),
            api: self.api,
            model: self.model.clone(),
            waiting,
            lines,
            in_queue: InQueue::enter(&self.queue),
        }
    }
}
