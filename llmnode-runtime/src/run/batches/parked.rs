//! A request that waits for its batch: both ends of it, that of the call and that of the batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use llmnode_model::batch::LineResponse;
use llmnode_model::{Category, ModelError, Retry, TokenUsage};
use tokio::sync::{Notify, oneshot};

use super::count::ParkedSlot;

/// What a call learns first: whether its request is part of an order.
pub(super) enum Planned {
    /// It is. The call says so in the journal, and then drops this.
    In { batch: Arc<BatchNames>, ack: Ack },
    /// It is to be asked directly.
    Directly,
    /// No order could be made of it.
    Failed(Failed),
}

/// The names of a batch.
#[derive(Debug)]
pub(super) struct BatchNames {
    /// Ours.
    pub(super) name: String,
}

/// The outcome of a line, for its call.
pub(super) enum LineOutcome {
    /// Boxed, since every call that waits has room for it.
    Response(Box<LineAnswer>),
    Failed(Failed),
    /// The request parks again, in the same attempt.
    Again,
}

/// The response to a line, and when its batch was asked and answered.
pub(super) struct LineAnswer {
    pub(super) response: LineResponse,
    pub(super) times: BatchTimes,
}

/// An outcome on its way to its call.
pub(super) struct Delivery {
    outcome: Option<LineOutcome>,
    unread: Option<Unread>,
}

/// Whether a result of a batch came to no call: the call was dropped before, or before it read what was sent to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Unread(Arc<AtomicBool>);

impl Delivery {
    /// The call has it now.
    pub(super) fn read(mut self) -> Option<LineOutcome> {
        self.outcome.take()
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        if let (Some(unread), true) = (&self.unread, self.outcome.is_some()) {
            unread.set();
        }
    }
}

impl Unread {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Of a batch whose line was answered.
#[derive(Clone, Debug)]
pub(super) struct BatchTimes {
    pub(super) batch: String,
    pub(super) submitted: Option<std::time::SystemTime>,
    pub(super) ended: Option<std::time::SystemTime>,
}

/// Why a line has no answer.
#[derive(Clone, Debug)]
pub(super) struct Failed {
    pub(super) category: Category,
    pub(super) message: String,
    pub(super) retry: Option<Retry>,
    pub(super) cost: FailedCost,
}

/// What is known of the cost of a line without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailedCost {
    /// It was never sent.
    Unsent,
    /// The provider did nothing for it.
    Nothing,
    /// It may have been answered.
    Unknown,
    /// The batch goes on: a later process counts it.
    Later,
}

impl Failed {
    pub(super) fn new(category: Category, message: impl Into<String>, cost: FailedCost) -> Self {
        Failed {
            category,
            message: message.into(),
            retry: None,
            cost,
        }
    }

    /// A request to the batch API itself has failed.
    pub(super) fn of_error(error: &ModelError, cost: FailedCost) -> Self {
        Failed {
            category: error.category,
            message: error.message.clone(),
            retry: error.retry,
            cost,
        }
    }

    /// What the provider was given may be answered, but cannot be looked at or read. It is not sent again: the next process reads
    /// the same batch.
    pub(super) fn unread(batch: &str, error: &ModelError) -> Self {
        let message = format!(
            "the batch {batch} cannot be read, and may be paid for: {}; start the map again with the same journal to read it",
            error.message
        );
        Failed::new(error.category, message, FailedCost::Later).later()
    }

    pub(super) fn later(self) -> Self {
        Failed {
            retry: Some(Retry::No),
            cost: FailedCost::Later,
            ..self
        }
    }

    pub(super) fn into_error(self) -> ModelError {
        let mut error = match self.cost {
            FailedCost::Unsent => ModelError::unreached(self.category, self.message),
            FailedCost::Later => ModelError::unsent(self.category, self.message),
            FailedCost::Nothing | FailedCost::Unknown => {
                ModelError::new(self.category, self.message)
            }
        };
        if self.cost == FailedCost::Nothing {
            let mut nothing = TokenUsage::new(0, 0);
            [nothing.cached, nothing.cache_write, nothing.reasoning] = [Some(0); 3];
            error.usage = Some(Box::new(nothing));
        }
        error.retry = self.retry;
        error
    }
}

/// The batch's end of a request that waits.
pub(super) struct Waiting {
    pub(super) id: Arc<str>,
    pub(super) place: Arc<ParkedSlot>,
    pub(super) planned: Option<oneshot::Sender<Planned>>,
    pub(super) result: oneshot::Sender<Delivery>,
}

impl Waiting {
    /// A call that was dropped meanwhile learns nothing.
    pub(super) fn plan(&mut self, planned: Planned) {
        if let Some(to) = self.planned.take() {
            self.place.leave();
            let _ = to.send(planned);
        }
    }

    pub(super) fn is_gone(&self) -> bool {
        self.result.is_closed()
    }

    pub(super) fn ends(self, outcome: LineOutcome) {
        self.send(outcome, None);
    }

    /// With the result of its line. If the call does not read it, `unread` says so.
    pub(super) fn has_result(self, outcome: LineOutcome, unread: &Unread) {
        self.send(outcome, Some(unread.clone()));
    }

    fn send(mut self, outcome: LineOutcome, unread: Option<Unread>) {
        // It was attached to a batch of an earlier process, or the batch never came to be.
        if let (Some(_), LineOutcome::Failed(failed)) = (&self.planned, &outcome) {
            return self.plan(Planned::Failed(failed.clone()));
        }
        self.place.leave();
        let outcome = Some(outcome);
        // What is not taken is dropped, and says that it was not read.
        let _ = self.result.send(Delivery { outcome, unread });
    }
}

/// The call's end of a request that waits.
pub(super) struct Parked {
    pub(super) place: Arc<ParkedSlot>,
    /// `None`: it was told.
    pub(super) planned: Option<oneshot::Receiver<Planned>>,
    pub(super) result: oneshot::Receiver<Delivery>,
}

impl Parked {
    /// Whether the request is part of an order. `None`: the batch's end is gone.
    pub(super) async fn planned(&mut self) -> Option<Planned> {
        // Taken, since the call has no use for it while it waits for the result.
        let planned = self.planned.take()?;
        planned.await.ok()
    }

    /// What came of its line. `None`: the batch's end is gone.
    pub(super) async fn outcome(&mut self) -> Option<LineOutcome> {
        let delivery = (&mut self.result).await;
        delivery.ok()?.read()
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        self.place.leave();
    }
}

/// Of all lines of an order: how many have yet to be noted in the journal.
pub(super) struct Acks {
    left: AtomicUsize,
    all: Notify,
}

/// Dropped when its line is noted, or its call is gone.
pub(super) struct Ack(Arc<Acks>);

impl Acks {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Acks {
            left: AtomicUsize::new(0),
            all: Notify::new(),
        })
    }

    pub(super) fn one(self: &Arc<Self>) -> Ack {
        self.left.fetch_add(1, Ordering::AcqRel);
        Ack(Arc::clone(self))
    }

    pub(super) async fn wait(&self) {
        loop {
            let notified = self.all.notified();
            if self.left.load(Ordering::Acquire) == 0 {
                return;
            }
            notified.await;
        }
    }
}

impl Drop for Ack {
    fn drop(&mut self) {
        if self.0.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.all.notify_waiters();
        }
    }
}
