//! A node that asks models, as the attempt loop tries it: one try is one request.
//!
//! In comes the node's request; out goes a value that the node keeps, or the
//! failure of the last try. On the way:
//!
//! 1. an answer that an earlier process has journaled is taken in place of a
//!    request (`replay`);
//! 2. a conversation that is too long for the model is compacted (`compact`);
//! 3. the request passes the gate of its endpoint, and the gate learns how it ended
//!    (`gate`);
//! 4. `run/attempt.rs` makes the request and judges the answer;
//! 5. calls of tools are executed, and their results begin the next turn (`turns`);
//! 6. after a failure, the next request is prepared as the loop decided
//!    (`next_request`).
//!
//! `conversation` is how all of this leaves a call that waits or fails, and comes
//! back.

mod compact;
mod conversation;
mod gate;
mod next_request;
mod replay;
mod start;
mod turns;

use std::pin::pin;
use std::sync::Arc;

use llmnode_model::ext::{BudgetedRetries, SentPrompt};
use llmnode_model::internal::catch_panic_of;
use llmnode_model::{Category, ChatModel, Request};

use super::at_gate::{GateKeeper, not_asked};
use super::attempt::{Exchange, attempt, record_failure};
use super::attempt_loop::{AfterTools, Attempts, CallPlan, PlannedAttempt, Success};
use super::compaction::counted_tokens;
use super::core::Target;
use super::erased_node::ErasedNode;
use super::failure::Failure;
use super::history::History;
use super::repetition::{Repetition, beginning};
use super::tools::{Round, RunningRound, Search};
use crate::error::NodeError;
use crate::ledger::{AttemptKind, JournalKey, OpenAttempt, UsedFallback};
use crate::pause::Claim;
use crate::settings::{AfterFailure, Progress};

/// Where the conversation of a node begins, and how long it may be.
pub(super) struct ConversationBounds {
    /// How many responses there are at most.
    pub(super) max_turns: u32,
    /// How many messages of the prompt come before the conversation: instructions and examples.
    pub(super) opening: usize,
}

struct ReplayKeys {
    conversation: Arc<str>,
    /// Fingerprint of the turn's first request; its corrections share it.
    turn: Option<Arc<str>>,
}

/// What the journal has for a request.
enum Replay {
    /// The answer, or the calls of tools: nobody is asked.
    Answered,
    /// The model has to be asked. The key is for its answer; `None`: nothing is journaled.
    Ask(Option<Box<JournalKey>>),
}

pub(super) struct ModelAttempts<'r, 'n> {
    plan: &'r CallPlan<'r>,
    model: &'r dyn ChatModel,
    node: &'r mut dyn ErasedNode<'n>,
    request: Request,
    /// `None`: all tools are listed.
    search: Option<Box<Search>>,
    /// Instructions and examples, which are no part of the conversation.
    opening: usize,
    prompt_len: usize,
    /// Messages of the prompt and of earlier rounds; later ones are feedback.
    stable_len: usize,
    target: Target<'r>,
    retries: BudgetedRetries<'r>,
    keeper: GateKeeper,
    answers: Repetition,
    history: History,
    round: Option<Box<Round>>,
    /// A round whose tools are under way, or were when the call failed.
    running: Option<Box<RunningRound>>,
    /// What was approved runs once.
    claim: Option<Box<Claim>>,
    /// Id of the conversation across processes; `None` if nothing is journaled.
    conversation_id: Option<Arc<str>>,
    parent_path: Option<Box<str>>,
    journal: Option<Box<ReplayKeys>>,
    open: Option<OpenAttempt<'r>>,
    /// The conversation's last request that was answered, by its hashes.
    sent: Option<Arc<SentPrompt>>,
}

impl Attempts for ModelAttempts<'_, '_> {
    /// The order of the page above. What the journal has comes before the gate, since it needs no request; the record
    /// begins behind it, so that it has the wait.
    async fn once(&mut self, one: &PlannedAttempt, progress: &Progress<'_>) -> Result<(), Failure> {
        // There is a round before the first request only after a pause.
        if self.round.is_some() {
            return Ok(());
        }
        self.replay_compactions();
        let journal_key = match self.replayed(&one.attempt).await? {
            Replay::Answered => return Ok(()),
            Replay::Ask(journal_key) => journal_key,
        };
        if self.history.compacting.is_some() {
            Box::pin(self.compact_if_due())
                .await
                .map_err(Failure::from_exec_error)?;
        }
        if let (Some(item), Some(recorder)) =
            (self.plan.context.item, self.plan.context.call.recorder())
            && !item.control.changes().is_settled()
            && let Some(why) = Box::pin(self.missed(item, recorder)).await
        {
            return Err(not_asked(why));
        }
        self.keeper.has_waited(one.wait);
        if self.lines_up(one) && !self.passes_at_once() {
            // Boxed, since few requests wait.
            Box::pin(self.pass_gate(one, progress)).await?;
        }
        self.begin_record(one, journal_key);
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        let exchange = Exchange {
            target: &self.target,
            request: &self.request,
            plan: self.plan,
            info: &one.attempt,
        };
        let node = &mut *self.node;
        let history = &mut self.history;
        // Panics are caught, so a dropped attempt was always cancelled.
        let outcome = catch_panic_of(pin!(attempt(&exchange, open, node, history))).await;
        self.note_sent();
        match outcome.unwrap_or_else(|message| Err(panicked(&message))) {
            Ok(round) => {
                self.round = round;
                self.end_request(None, progress);
                Ok(())
            }
            Err(mut failure) => {
                self.end_request(Some(&mut failure), progress);
                Err(failure)
            }
        }
    }

    async fn succeeded(&mut self) -> Result<Success, NodeError> {
        let success = match self.round {
            Some(_) => Success::ToolCalls,
            None => Success::Output,
        };
        let Some(mut open) = self.open.take() else {
            return Ok(success);
        };
        if let Some(round) = &self.round {
            self.announce(round, &mut open);
        }
        if let Some(compacting) = &mut self.history.compacting {
            compacting.count(open.record().and_then(counted_tokens));
        }
        open.commit(None);
        self.flush().await?;
        Ok(success)
    }

    async fn run_tools(&mut self) -> Result<AfterTools, Failure> {
        let Some(round) = self.round.take() else {
            return Ok(AfterTools::NextTurn);
        };
        if let Some(listener) = self.plan.context.listener() {
            listener.drained().await;
        }
        self.execute(round).await
    }

    async fn failed(
        &mut self,
        one: &PlannedAttempt,
        failure: &mut Failure,
        next: &AfterFailure,
    ) -> Result<(), NodeError> {
        self.explain(one.kind, failure, next);
        if let AfterFailure::Again { kind, .. } = next {
            self.prepare_again(*kind, failure);
        }
        if let Some(listener) = self.plan.context.listener() {
            listener.failed(failure.category);
        }
        if let Some(open) = self.open.take() {
            record_failure(open, failure);
        }
        self.flush().await
    }

    fn model(&self) -> Option<String> {
        self.plan.context.core.model_name(&self.target, self.model)
    }

    /// Another model continues from the last whole turn. Rounds of tools are kept,
    /// since their tools have run. What was said of bad answers is not: the other
    /// model did not write them, what its provider put beside them is of no use
    /// elsewhere, and its tries are counted anew.
    fn change_model(&mut self, name: &str) -> Result<(), NodeError> {
        self.plan
            .context
            .call
            .set_used_fallback(UsedFallback::Model);
        self.target = self.plan.context.core.target(Some(name), self.model);
        self.retries = BudgetedRetries::of(self.target.model);
        self.keeper.forget();
        if let Some(compacting) = &mut self.history.compacting {
            compacting.forget_window();
        }
        self.answers = Repetition::default();
        self.request.messages.truncate(self.stable_len);
        // Asked of the model before, for its last try. Where it is the last turn,
        // the policies ask it of this one, too.
        self.request.answer_now = false;
        self.plan_request(AttemptKind::FallbackModel);
        self.target.apply_to(&mut self.request, &self.plan.settings)
    }

    fn grant(&mut self) -> Result<(), String> {
        // It spares an endpoint a rush of retries, which a batch is not.
        if self.plan.context.batches().is_some() {
            return Ok(());
        }
        self.retries.grant()
    }

    fn gets_shorter(&self) -> bool {
        let compacting = self.history.compacting.as_ref();
        compacting.is_some_and(|compacting| compacting.is_refused())
    }

    fn repeats(&mut self, failure: &Failure) -> Option<String> {
        self.answers
            .repeats(failure)
            .then(|| beginning(failure.answer.as_deref().unwrap_or_default()))
    }
}

impl ModelAttempts<'_, '_> {
    /// Notes of a request that has ended whether it went out, and with which prompt:
    /// the next one is compared with it.
    fn note_sent(&mut self) {
        let Some(open) = &mut self.open else {
            return;
        };
        if open.has_begun() {
            self.keeper.begun();
        }
        let is_compacted = match &self.history.compacting {
            Some(compacting) => compacting.has_changed,
            None => false,
        };
        let Some(sent) = open.compare_prompt(is_compacted) else {
            return;
        };
        self.sent = Some(sent);
        if let Some(compacting) = &mut self.history.compacting {
            compacting.has_changed = false;
        }
    }
}

fn panicked(message: &str) -> Failure {
    Failure::new(
        Category::Panic,
        format!("the output or the model panicked: {message}"),
    )
}
