//! The turn that a call has in a conversation: claimed before the first request,
//! kept while it runs, ended once.
//!
//! A [`Turn`] is made with the call and begins where the prompt is known. Whatever
//! way the call ends, the turn does: by an answer, a pause or an error in
//! [`Turn::end`], and if the call is dropped, when the turn is.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Poll;
use std::time::Duration;

use llmnode_model::internal::{catch_panic, catch_panic_async, lock};
use llmnode_model::{BoxFuture, Category, Message, Request};

use crate::clock::Clock;
use crate::conversation::{BegunTurn, Covers, NewTurn, TurnStore};
use crate::error::NodeError;
use crate::ledger::Recorder;
use crate::pause::{CompactedSoFar, Unfinished};

/// How long a store may take to end a turn. With the default lease, nobody else has
/// the conversation until then.
const LONGEST_END: Duration = Duration::from_secs(20);

/// A turn of one call. Its parts are set once, by the call alone, but through
/// shared references: the call's context has it.
pub(super) struct Turn<'r> {
    store: &'r dyn TurnStore,
    /// The claim, and what the store knew then. Not set: the prompt was not known
    /// yet, or nothing was claimed.
    begun: OnceLock<BegunTurn>,
    /// How a journal names it, now and in older versions.
    names: OnceLock<Vec<Arc<str>>>,
    shortened: Mutex<Shortened>,
    /// The store knows how the turn ended: nothing is left to do when it is dropped.
    has_ended: AtomicBool,
}

/// What the model was sent in place of the whole conversation.
#[derive(Default)]
pub(super) struct Shortened {
    /// Anything: in this turn, or in an earlier one.
    pub(super) is_shorter: bool,
    /// What this turn left out or summed up.
    pub(super) covers: Vec<Covers>,
}

impl<'r> Turn<'r> {
    pub(super) fn new(store: &'r dyn TurnStore) -> Self {
        Turn {
            store,
            begun: OnceLock::new(),
            names: OnceLock::new(),
            shortened: Mutex::default(),
            has_ended: AtomicBool::new(false),
        }
    }

    /// The id of the conversation.
    pub(super) fn conversation(&self) -> &str {
        self.store.id()
    }

    /// Claims the conversation, and puts its history between the instructions and the prompt.
    pub(super) async fn begin(
        &self,
        new: NewTurn<'_>,
        request: &mut Request,
        opening: usize,
    ) -> Result<(), NodeError> {
        let names = [&new.id, &new.older_id].into_iter().flatten();
        self.names
            .get_or_init(|| names.map(|name| Arc::from(&**name)).collect());
        let begun = self.store.begin(new).await?;
        let begun = self.begun.get_or_init(|| begun);
        let opening = opening.min(request.messages.len());
        let history = begun.history.iter().cloned();
        request.messages.splice(opening..opening, history);
        // The question stands behind the history now.
        if let Some(at) = request.question {
            let at = usize::from(at) + begun.history.len();
            request.question = u16::try_from(at).ok();
        }
        Ok(())
    }

    /// How many messages of the conversation are not the turn's own.
    pub(super) fn history(&self) -> usize {
        self.begun.get().map_or(0, |begun| begun.history.len())
    }

    /// What earlier turns left out of these messages, or summed up.
    pub(super) fn covers(&self) -> &[Covers] {
        self.begun.get().map_or(&[], |begun| &begun.covers)
    }

    /// How many messages the store has.
    pub(super) fn stored(&self) -> usize {
        match self.begun.get() {
            Some(begun) => begun.history.len().saturating_sub(begun.pins),
            None => 0,
        }
    }

    /// What an earlier turn that has no answer left out of them, or summed up, with
    /// what earlier turns did.
    pub(super) fn of_unfinished(&self) -> Option<&CompactedSoFar> {
        let unfinished = self.begun.get()?.unfinished.as_ref()?;
        unfinished.0.0.compacted.as_deref()
    }

    /// The call has ended its conversation with the model.
    pub(super) fn set_shortened(&self, shortened: Shortened) {
        *lock(&self.shortened) = shortened;
    }

    /// Whether the model was sent less than the whole conversation.
    pub(super) fn is_shorter(&self) -> bool {
        lock(&self.shortened).is_shorter
    }

    /// The turn, if there is something to write.
    fn open(&self) -> Option<&BegunTurn> {
        self.begun.get().filter(|begun| !begun.is_appended)
    }

    /// Writes down what a crash must not lose.
    pub(super) async fn keep(&self, so_far: &Unfinished) -> Result<(), NodeError> {
        match self.open() {
            Some(begun) => self.store.keep(begun, so_far).await,
            None => Ok(()),
        }
    }

    /// Renews the claim while the work goes on, and ends the work when somebody
    /// else has the conversation.
    pub(super) async fn held<E: From<NodeError>>(
        &self,
        clock: &dyn Clock,
        work: impl Future<Output = Result<(), E>>,
    ) -> Result<(), E> {
        let Some(begun) = self.open() else {
            return work.await;
        };
        let mut work = pin!(work);
        let mut lost = pin!(self.until_lost(clock, begun));
        poll_fn(|cx| {
            if let Poll::Ready(outcome) = work.as_mut().poll(cx) {
                return Poll::Ready(outcome);
            }
            lost.as_mut().poll(cx).map(|error| Err(E::from(error)))
        })
        .await
    }

    async fn until_lost(&self, clock: &dyn Clock, begun: &BegunTurn) -> NodeError {
        loop {
            // `until`, since a claim must not move the clock of a test.
            match clock.now().checked_add(begun.renew_after) {
                Some(time) => clock.until(time).await,
                None => std::future::pending().await,
            }
            match self.store.renew(begun).await {
                Ok(()) => {}
                Err(error) if error.category() == Category::Conflict => return error,
                Err(error) => {
                    tracing::warn!(target: "llmnode::chat", "a claim was not renewed: {error:#}");
                }
            }
        }
    }

    /// The call has failed, so the next one with this question is the same turn.
    pub(super) fn put_back(&self, recorder: &dyn Recorder) {
        if let Some(names) = self.names.get() {
            recorder.put_back(names);
        }
    }

    /// Ends the turn as the call ended. `messages`: the whole conversation with the answer.
    ///
    /// # Errors
    /// The answer could not be appended.
    pub(super) async fn end(
        &self,
        clock: &dyn Clock,
        outcome: Result<Vec<Message>, &NodeError>,
    ) -> Result<(), NodeError> {
        let Some(begun) = self.open() else {
            return match (self.begun.get(), outcome) {
                (None, Ok(_)) => Err(without_conversation()),
                _ => Ok(()),
            };
        };
        let ended = match outcome {
            Ok(mut messages) => {
                // The store has the history: only what is new is appended.
                let old = begun.history.len().min(messages.len());
                messages.drain(..old);
                let covers = std::mem::take(&mut lock(&self.shortened).covers);
                ended_in_time(clock, || self.store.append(begun, &messages, &covers)).await
            }
            Err(error) => match error.paused() {
                Some(paused) if error.category() == Category::Paused => {
                    ended_in_time(clock, || self.store.pause(begun, &paused)).await
                }
                _ => {
                    self.fail(clock, begun, error).await;
                    return Ok(());
                }
            },
        };
        self.note_end(&ended);
        ended
    }

    async fn fail(&self, clock: &dyn Clock, begun: &BegunTurn, error: &NodeError) {
        let so_far = error
            .unfinished()
            .map(|unfinished| unfinished.without_history(begun.history.len()));
        let ended = ended_in_time(clock, || self.store.fail(begun, so_far.as_ref())).await;
        self.note_end(&ended);
        if let Err(fault) = ended {
            tracing::warn!(target: "llmnode::chat", "a failed turn was not kept: {fault:#}");
        }
    }

    /// A claim that could not be given up here is given up when the turn is dropped.
    fn note_end(&self, ended: &Result<(), NodeError>) {
        self.has_ended.store(ended.is_ok(), Ordering::Relaxed);
    }
}

/// A store that hangs or panics must not take the call with it. The deadline of the
/// call is no measure: an answer that came in time is paid for, and is not lost
/// because a moment is left.
async fn ended_in_time<'a>(
    clock: &dyn Clock,
    end: impl FnOnce() -> BoxFuture<'a, Result<(), NodeError>>,
) -> Result<(), NodeError> {
    let ended = catch_panic_async(|| async {
        let mut end = end();
        let mut late = None;
        poll_fn(|cx| match end.as_mut().poll(cx) {
            Poll::Ready(outcome) => Poll::Ready(outcome),
            Poll::Pending => {
                let late = late.get_or_insert_with(|| clock.outside(LONGEST_END));
                late.as_mut().poll(cx).map(|()| Err(hung()))
            }
        })
        .await
    });
    ended.await.unwrap_or_else(|panic_message| {
        let why = format!("the store of the conversation panicked: {panic_message}");
        Err(NodeError::new(Category::Panic, why))
    })
}

fn hung() -> NodeError {
    let why = format!(
        "the store of the conversation has not answered for {LONGEST_END:?}, and nobody knows whether the turn was written; look at the \
         history once the store works again, and at `chat.unfinished()`"
    );
    NodeError::new(Category::Aborted, why)
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.has_ended.load(Ordering::Relaxed) {
            return;
        }
        let Some(begun) = self.open() else { return };
        if let Err(panic_message) = catch_panic(|| self.store.abandon(begun)) {
            tracing::warn!(target: "llmnode::chat", "a claim was not given up: the store panicked: {panic_message}");
        }
    }
}

pub(super) fn without_conversation() -> NodeError {
    NodeError::new(
        Category::ConfigError,
        "`conversation` is for a node that asks a model itself; call that node with it, as in \
         `cx.call(&node).conversation(&chat)`",
    )
}
