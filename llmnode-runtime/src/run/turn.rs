//! The turn that a call has in a conversation: claimed before the first request,
//! kept while it runs, ended once.
//!
//! A [`Turn`] is made with the call and begins where the prompt is known. Whatever
//! way the call ends, the turn does: by an answer, a pause or an error in
//! [`Turn::end`], and if the call is dropped, when the turn is.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::task::Poll;

use llmnode_model::internal::lock;
use llmnode_model::{Category, Message, Request};

use crate::clock::Clock;
use crate::conversation::{BegunTurn, Covers, NewTurn, TurnStore};
use crate::error::NodeError;
use crate::pause::{CompactedSoFar, Unfinished};

/// A turn of one call. Its parts are set once, by the call alone, but through
/// shared references: the call's context has it.
pub(super) struct Turn<'r> {
    store: &'r dyn TurnStore,
    /// The claim, and what the store knew then. Not set: the prompt was not known
    /// yet, or nothing was claimed.
    begun: OnceLock<BegunTurn>,
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
            shortened: Mutex::default(),
            has_ended: AtomicBool::new(false),
        }
    }

    /// Claims the conversation, and puts its history between the instructions and the prompt.
    pub(super) async fn begin(
        &self,
        new: NewTurn<'_>,
        request: &mut Request,
        opening: usize,
    ) -> Result<(), NodeError> {
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

    /// Ends the turn as the call ended. `messages`: the whole conversation with the answer.
    ///
    /// # Errors
    /// The answer could not be appended.
    pub(super) async fn end(
        &self,
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
                self.store.append(begun, &messages, &covers).await
            }
            Err(error) => self.fail(begun, error).await,
        };
        // A claim that could not be given up here is given up when the turn is dropped.
        self.has_ended.store(ended.is_ok(), Ordering::Relaxed);
        ended
    }

    async fn fail(&self, begun: &BegunTurn, error: &NodeError) -> Result<(), NodeError> {
        if error.category() == Category::Paused
            && let Some(paused) = error.paused()
        {
            return self.store.pause(begun, &paused).await;
        }
        let so_far = error
            .unfinished()
            .map(|unfinished| unfinished.without_history(begun.history.len()));
        if let Err(fault) = self.store.fail(begun, so_far.as_ref()).await {
            tracing::warn!(target: "llmnode::chat", "a failed turn was not kept: {fault:#}");
        }
        Ok(())
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.has_ended.load(Ordering::Relaxed) {
            return;
        }
        if let Some(begun) = self.open() {
            self.store.abandon(begun);
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
