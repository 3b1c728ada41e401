//! A node that asks models, as the attempt loop tries it: one try is one request.

mod conversation;
mod gate;
mod replay;
mod turns;

use std::sync::Arc;

use llmnode_model::internal::{BudgetedRetries, SentPrompt, catch_panic_async};
use llmnode_model::{Category, ChatModel, Group, Message, Request, ResponseFormat, Retry};
use llmnode_reader::internal::{form, is_repetition, one_line};
use llmnode_reader::{Flag, Violation};

use super::at_gate::{GateKeeper, not_asked};
use super::attempt::{attempt, record_failure};
use super::attempt_loop::{Attempts, CallPlan, PlannedAttempt, Success};
use super::core::Target;
use super::erased_node::ErasedNode;
use super::failure::Failure;
use super::feedback;
use super::named_bounds::NamedBounds;
use super::narrowed::Narrowed;
use super::repetition::{Repetition, beginning};
use super::resume::Origin;
use super::tools::{Round, RunningRound};
use crate::error::NodeError;
use crate::ledger::{AttemptKind, OpenAttempt, RunEvent, ToolRecord, UsedFallback};
use crate::pause::Claim;
use crate::settings::{Next, Progress};

const MAX_UNKNOWN_ROUNDS: u32 = 2;

const CUT: &str =
    "was cut at the length limit; call one tool or write the answer, and nothing else";

/// What a node says besides its request.
pub(super) struct Asking {
    /// How many responses there are at most.
    pub(super) turns: u32,
    /// How many messages of the prompt stand before the conversation.
    pub(super) opening: usize,
}

struct ReplayKeys {
    conversation: String,
    /// Fingerprint of the turn's first request; its corrections share it.
    turn: Option<String>,
}

pub(super) struct ModelAttempts<'r, 'n> {
    plan: &'r CallPlan<'r>,
    model: &'r dyn ChatModel,
    node: &'r mut dyn ErasedNode<'n>,
    request: Request,
    /// Instructions and examples, which are no part of the conversation.
    opening: usize,
    first: usize,
    /// Messages of the prompt and of earlier rounds; later ones are feedback.
    prompt: usize,
    target: Target<'r>,
    retries: BudgetedRetries<'r>,
    keeper: GateKeeper,
    answers: Repetition,
    narrowed: Option<Box<Narrowed>>,
    bounds: NamedBounds,
    round: Option<Box<Round>>,
    /// A round whose tools are under way, or were when the call failed.
    running: Option<Box<RunningRound>>,
    /// What was approved runs once.
    claim: Option<Box<Claim>>,
    /// Limit, and responses so far.
    turns: (u32, u32),
    unknown: u32,
    was_cut: bool,
    /// A tool was called in a text, as by servers that know no calls.
    calls_in_text: bool,
    /// Id of the conversation across processes; `None` if nothing is journaled.
    root: Option<Box<str>>,
    around: Option<Box<str>>,
    journal: Option<Box<ReplayKeys>>,
    open: Option<OpenAttempt<'r>>,
    /// The conversation's last request that was answered, by its hashes.
    sent: Option<Arc<SentPrompt>>,
}

impl<'r, 'n> ModelAttempts<'r, 'n> {
    pub(super) fn new(
        plan: &'r CallPlan<'r>,
        held: Option<&'r dyn ChatModel>,
        mut request: Request,
        asking: Asking,
        node: &'r mut dyn ErasedNode<'n>,
    ) -> Result<Self, NodeError> {
        let Asking { turns, opening } = asking;
        request.answer_now = turns == 1 && !request.tools.is_empty();
        if !request.tools.is_empty() {
            plan.context.call.mark_agent();
        }
        let model = held.unwrap_or(&*plan.context.core.model);
        let target = plan.context.core.target(plan.settings.model(), model);
        target.apply_to(&mut request, &plan.settings)?;
        plan.context.core.report_extra_for_all(&plan.settings);
        let within = plan
            .context
            .origin
            .and_then(|origin| origin.journal.as_deref());
        let recorder = plan.context.call.recorder();
        let journal = recorder
            .and_then(|journal| journal.conversation(&request, target.names(&request), within));
        let root = journal
            .as_ref()
            .and_then(|journal| journal.root.clone())
            .map(String::into_boxed_str);
        let journal = journal.map(|journal| {
            Box::new(ReplayKeys {
                conversation: journal.conversation,
                turn: None,
            })
        });
        if let (Some(item), Some(journal)) = (plan.context.item, &journal) {
            item.add_conversation(&journal.conversation);
        }
        let origin = plan.context.origin.filter(|_| !request.tools.is_empty());
        let around = origin.and_then(Origin::around).map(String::into_boxed_str);
        let sent = request
            .messages
            .iter()
            .rev()
            .find_map(Message::sent)
            .cloned();
        let (prompt, retries) = (request.messages.len(), BudgetedRetries::of(target.model));
        Ok(ModelAttempts {
            plan,
            model,
            node,
            request,
            opening,
            first: prompt,
            prompt,
            target,
            retries,
            keeper: GateKeeper::default(),
            answers: Repetition::default(),
            narrowed: None,
            bounds: NamedBounds::default(),
            round: None,
            running: None,
            claim: None,
            turns: (turns, 0),
            unknown: 0,
            was_cut: false,
            calls_in_text: false,
            root,
            around,
            journal,
            open: None,
            sent,
        })
    }
}

impl ModelAttempts<'_, '_> {
    fn is_last_turn(&self) -> bool {
        self.turns.1.saturating_add(1) >= self.turns.0 || self.unknown >= MAX_UNKNOWN_ROUNDS
    }

    /// A model that had results of tools and answers wrongly is asked for the answer alone, by a response format.
    fn ask_for_the_answer(&mut self, failure: &Failure) {
        self.request.answer_now |= self.has_lost_its_answer(failure);
    }

    /// Where calls are texts, a small model writes a text as its answer, too: it is asked for it at once, and it is no correction.
    fn ask_for_the_answer_at_once(&mut self, failure: &mut Failure) {
        let Request {
            output,
            tools,
            answer_now,
            ..
        } = &self.request;
        let may_call = output.is_some() && !tools.is_empty() && !answer_now;
        if may_call && failure.retry.is_none() && self.has_lost_its_answer(failure) {
            failure.retry = Some(Retry::Adapted);
            self.request.answer_now = true;
        }
    }

    /// A tool has run, and the model, which cannot be made to call or to answer, wrote something else.
    fn has_lost_its_answer(&self, failure: &Failure) -> bool {
        let record = self.open.as_ref().and_then(OpenAttempt::record);
        let is_free = self.calls_in_text
            || record.is_some_and(|record| {
                record.has_flag(&Flag::FreeChoice) || record.has_refused("tool_choice")
            });
        let is_no_answer = matches!(
            failure.category,
            Category::SchemaError | Category::TruncatedOutput
        );
        is_free && self.turns.1 > 0 && is_no_answer
    }

    /// For the user: the tool's result is there, and the last step is missing.
    fn explain_lost_answer(&mut self, one: &PlannedAttempt, failure: &mut Failure, next: &Next) {
        let is_last = matches!(next, Next::Fallback | Next::Bubble);
        if is_last && self.request.output.is_some() && self.has_lost_its_answer(failure) {
            let advice = if one.kind == AttemptKind::Correction {
                "raise"
            } else {
                "set"
            };
            failure.add(&format!(
                "; the tool ran, but no answer came: {advice} `retries`"
            ));
        }
    }

    /// A model that sees no schema gets the list as feedback.
    fn narrow(&mut self, failure: &mut Failure) {
        let mut format = self.request.response_format;
        if let Some(open) = &mut self.open {
            open.note(|record| format = record.response_format.or(format));
        }
        if !matches!(
            format,
            Some(ResponseFormat::JsonObject | ResponseFormat::Prompt)
        ) {
            Narrowed::add(
                &mut self.narrowed,
                &mut self.request,
                &mut failure.violations,
            );
        }
    }

    /// A model with tools may have got lost in text: one more try, out of `retries`.
    fn ask_for_less(&mut self, failure: &mut Failure) {
        if failure.category == Category::TruncatedOutput
            && failure.retry.is_none()
            && !self.request.tools.is_empty()
            && !std::mem::replace(&mut self.was_cut, true)
        {
            failure.retry = Some(Retry::Feedback);
            failure.violations = vec![Violation::new("", CUT)];
        }
    }

    /// A tool call that the provider could not parse takes a turn, like a call. In a typed node, `retries` bound it.
    fn answer_failed_call(&mut self, failure: &mut Failure) {
        let is_failed_call =
            failure.category == Category::SchemaError && failure.retry == Some(Retry::Feedback);
        let Request {
            output,
            tools,
            answer_now,
            ..
        } = &self.request;
        if is_failed_call && output.is_none() && !tools.is_empty() && !answer_now {
            failure.retry = Some(Retry::Adapted);
            self.turns.1 = self.turns.1.saturating_add(1);
            self.request.answer_now = self.is_last_turn();
        }
    }

    fn explain_tool_call(&mut self, failure: &mut Failure) {
        if !self.request.answer_now
            || !self.is_last_turn()
            || failure.category.group() != Group::Answer
        {
            return;
        }
        let mut called = None;
        if let Some(open) = &mut self.open {
            open.note(|record| called = record.tools.first().map(|tool| one_line(&tool.name, 200)));
        }
        let Some(called) = called else { return };
        failure.add(&if self.unknown == MAX_UNKNOWN_ROUNDS {
            format!(
                "; the model called `{called}` after {MAX_UNKNOWN_ROUNDS} responses in a row without a tool that exists, where only an answer is left"
            )
        } else {
            let turns = self.turns.0;
            format!("; the last of {turns} turns was used for a call of `{called}` instead of an answer; raise `turns`")
        });
    }
}

impl Attempts for ModelAttempts<'_, '_> {
    async fn once(&mut self, one: &PlannedAttempt, progress: &Progress<'_>) -> Result<(), Failure> {
        // There is a round before the first request only after a pause.
        if self.round.is_some() {
            return Ok(());
        }
        let Some(journal_key) = self.replayed(&one.attempt).await? else {
            return Ok(());
        };
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
        let ModelAttempts {
            plan,
            node,
            request,
            target,
            retries,
            narrowed,
            ..
        } = self;
        let wait = self.keeper.waited();
        let open = self.open.insert(
            plan.context
                .call
                .attempt(one.kind, wait, target.name.clone()),
        );
        open.journal_key = journal_key;
        open.wants_rate_limits =
            plan.context.item.is_some() || target.gates(plan.context.core).are_paced();
        if let Some(narrowed) = narrowed {
            open.note(|record| record.narrowed = narrowed.places());
        }
        request.correlation = Some(open.id);
        // Panics are caught, so a dropped attempt was always cancelled.
        let outcome =
            catch_panic_async(|| attempt(target, request, open, &mut **node, &one.attempt, plan))
                .await;
        if open.has_begun() {
            self.keeper.begun();
        }
        if let Some(sent) = open.compare_prompt(self.sent.as_deref()) {
            self.sent = Some(sent);
        }
        let panicked = |message| {
            Failure::new(
                Category::Panic,
                format!("the output or the model panicked: {message}"),
            )
        };
        self.round = match outcome.unwrap_or_else(|message| Err(panicked(message))) {
            Ok(round) => round,
            Err(mut failure) => {
                // The timeout may also have passed in a validator.
                let judging = failure.category == Category::Timeout && open.has_answer();
                retries.settle(if judging {
                    Some(true)
                } else {
                    failure.endpoint_answered()
                });
                let unreached = open.is_unsent();
                self.report_to_gate((!judging).then_some(&failure), unreached, progress);
                if failure.category == Category::NotFound {
                    failure.add(&self.plan.context.core.unregistered_hint(&self.target));
                }
                self.ask_for_less(&mut failure);
                self.answer_failed_call(&mut failure);
                self.ask_for_the_answer_at_once(&mut failure);
                return Err(failure);
            }
        };
        retries.settle(Some(true));
        self.report_to_gate(None, false, progress);
        Ok(())
    }

    async fn succeeded(&mut self) -> Result<Success, NodeError> {
        let success = if self.round.is_some() {
            Success::ToolCalls
        } else {
            Success::Output
        };
        let Some(mut open) = self.open.take() else {
            return Ok(success);
        };
        if self.round.is_none() {
            let bounds = &self.bounds;
            open.note(|record| {
                if record
                    .answer
                    .as_deref()
                    .is_some_and(|answer| bounds.are_met_exactly(answer))
                {
                    record.flags.push(Flag::AtBound);
                }
            });
        }
        if let Some(round) = &self.round {
            let calls_in_text = &mut self.calls_in_text;
            open.note(|record| {
                *calls_in_text |= record.flags.contains(&Flag::CallInText);
                record.tools = round
                    .calls()
                    .iter()
                    .map(|call| ToolRecord::called(&call.id, &call.name))
                    .collect()
            });
            let event = RunEvent::ToolsCalled {
                attempt: open.id,
                calls: round.calls(),
            };
            self.plan.context.call.record_event(&event);
            // The text of a turn that the provider paused is the begin of the answer.
            let goes_on = round.calls().is_empty() && self.request.output.is_none();
            if let Some(listener) = self.plan.context.listener().filter(|_| !goes_on) {
                listener.emit_tool_calls(round.calls());
            }
        }
        open.commit(None);
        self.plan
            .context
            .call
            .flush()
            .await
            .map_err(|fault| Failure::unrecorded(fault).into_error())?;
        Ok(success)
    }

    async fn run_tools(&mut self) -> Result<(), Failure> {
        let Some(round) = self.round.take() else {
            return Ok(());
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
        next: &Next,
    ) -> Result<(), NodeError> {
        self.explain_tool_call(failure);
        self.explain_lost_answer(one, failure, next);
        if matches!(
            next,
            Next::Again {
                kind: AttemptKind::Correction | AttemptKind::Adapted,
                ..
            }
        ) {
            self.ask_for_the_answer(failure);
        }
        let ModelAttempts {
            plan,
            request,
            prompt,
            ..
        } = self;
        let is_told = match next {
            Next::Again {
                kind: AttemptKind::Correction,
                ..
            } => true,
            Next::Again {
                kind: AttemptKind::Adapted,
                ..
            } => request.output.is_none() && !failure.violations.is_empty(),
            _ => false,
        };
        if is_told {
            let repeats = failure.violations.iter().any(is_repetition);
            let schema = request.output.as_deref().filter(|_| repeats);
            let answer = (failure.answer.clone(), failure.carried.clone());
            let violations = &failure.violations;
            feedback::append(
                &mut request.messages,
                *prompt,
                plan.settings.feedback_rounds(),
                answer,
                violations,
                schema.and_then(form),
            );
        }
        if matches!(
            next,
            Next::Again {
                kind: AttemptKind::Correction,
                ..
            }
        ) {
            self.bounds.add(&failure.violations);
            self.narrow(failure);
            // A list that only the schema has may not have been read: the next complaint has it in words.
            if self.narrowed.is_none() {
                self.answers.after_feedback();
            }
        }
        if failure.raises_limit
            && matches!(
                next,
                Next::Again {
                    kind: AttemptKind::Adapted,
                    ..
                }
            )
        {
            self.request.raised = true;
        }
        if let Some(listener) = self.plan.context.listener() {
            listener.failed(failure.category);
        }
        self.open
            .take()
            .into_iter()
            .for_each(|open| record_failure(open, failure));
        self.plan
            .context
            .call
            .flush()
            .await
            .map_err(|fault| Failure::unrecorded(fault).into_error())
    }

    fn model(&self) -> Option<String> {
        self.plan.context.core.model_name(&self.target, self.model)
    }

    fn change_model(&mut self, name: &str) -> Result<(), NodeError> {
        self.plan
            .context
            .call
            .set_used_fallback(UsedFallback::Model);
        self.target = self.plan.context.core.target(Some(name), self.model);
        self.retries = BudgetedRetries::of(self.target.model);
        self.keeper.forget();
        self.answers = Repetition::default();
        self.bounds.end();
        self.request.messages.truncate(self.prompt);
        Narrowed::end(&mut self.narrowed, &mut self.request);
        self.request.answer_now = !self.request.tools.is_empty() && self.is_last_turn();
        self.target.apply_to(&mut self.request, &self.plan.settings)
    }

    fn grant(&mut self) -> Result<(), String> {
        // It spares an endpoint a rush of retries, which a batch is not.
        if self.plan.context.batches().is_some() {
            return Ok(());
        }
        self.retries.grant()
    }

    fn repeats(&mut self, failure: &Failure) -> Option<String> {
        self.answers
            .repeats(failure)
            .then(|| beginning(failure.answer.as_deref().unwrap_or_default()))
    }
}
