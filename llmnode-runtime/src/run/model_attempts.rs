//! A node that asks models, as the attempt loop tries it: one try is one request.

use std::sync::Arc;

use llmnode_model::internal::{BudgetedRetries, SentPrompt, catch_panic_async};
use llmnode_model::{
    Category, ChatModel, Group, Message, ProviderState, Request, ResponseFormat, Retry, ToolCall,
};
use llmnode_reader::internal::{form, is_repetition, one_line, repeated_form, repeats_form};
use llmnode_reader::{Flag, OutputSchema, Violation};

use super::at_gate::{AtGateContext, GateKeeper, Report, not_asked};
use super::attempt::attempt;
use super::attempt_loop::{Attempts, Plan, PlannedAttempt, Success};
use super::context::CallContext;
use super::core::Target;
use super::erased_node::{ErasedNode, judge};
use super::failure::Failure;
use super::feedback;
use super::map_item::MapItem;
use super::named_bounds::NamedBounds;
use super::narrowed::Narrowed;
use super::not_asked::NotAsked;
use super::paused_turn;
use super::repetition::{Repetition, beginning};
use super::resume::{Now, Origin, fingerprint};
use super::shown;
use super::tools::{ConversationId, Executor, Round, RunningRound};
use crate::error::NodeError;
use crate::ledger::{
    AttemptKind, JournalKey, JournaledAnswer, OpenAttempt, Recorder, RunEvent, ToolRecord, Usage,
    UsedFallback, prompt_tokens,
};
use crate::pause::{CallState, Claim, Conversation, OpenCall, Paused, Shown, Unfinished};
use crate::settings::{Next, Progress};
use crate::validate::AttemptInfo;

const MAX_UNKNOWN_ROUNDS: u32 = 2;

const ANSWER_NOW: &str = "No more tools can be called. Answer now, with what you have.";

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
    plan: &'r Plan<'r>,
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
        plan: &'r Plan<'r>,
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
    /// Takes the answer that an earlier process got to this request, if it is still valid. Otherwise returns the key
    /// for the new answer; an inner `None`: it is not journaled.
    async fn replayed(
        &mut self,
        attempt: &AttemptInfo,
    ) -> Result<Option<Option<Box<JournalKey>>>, Failure> {
        let (Some(journal), Some(recorder)) =
            (&mut self.journal, self.plan.context.call.recorder())
        else {
            return Ok(Some(None));
        };
        let (request, target) = (&self.request, &self.target);
        let name = journal
            .turn
            .get_or_insert_with(|| recorder.name(request, target.names(request)))
            .clone();
        let conversation = journal.conversation.clone();
        loop {
            let Some((answer, usage)) = recorder.answer(&conversation, &name) else {
                let model = self.other_model();
                return Ok(Some(Some(Box::new(JournalKey {
                    conversation,
                    request: name,
                    model,
                }))));
            };
            if let Some(item) = self.plan.context.item {
                item.control.changes().settle();
            }
            let JournaledAnswer {
                text,
                calls,
                carried,
                is_round,
                accepted,
                model,
            } = answer;
            // The same model continues, as it did then.
            if let Some(model) = model.filter(|model| self.target.name.as_ref() != Some(model)) {
                self.change_model(&model)
                    .map_err(Failure::from_exec_error)?;
            }
            if is_round {
                self.take_replayed(usage, &text, &calls);
                let open = calls.into_iter().map(|call| OpenCall {
                    state: CallState::Approval(None),
                    call,
                });
                self.resume_round(&text, carried, open.collect());
                return Ok(None);
            }
            // A copied form was refused for that alone.
            let copied = |schema: &OutputSchema| !accepted && repeats_form(schema, &text);
            let judged = if self.request.output.as_deref().is_some_and(copied) {
                Err(Failure::rejected(
                    Category::SchemaError,
                    vec![repeated_form()],
                ))
            } else {
                judge(&mut *self.node, &text, self.plan.settings.reader(), attempt).await
            };
            match judged {
                Ok(_) => {
                    self.take_replayed(usage, &text, &[]);
                    self.plan.context.call.set_carried(carried);
                    if let Some(listener) = self.plan.context.listener() {
                        listener.emit_unstreamed(&text);
                    }
                    return Ok(None);
                }
                // Accepted once, but not now. Its replacement is next in the journal, or is asked for.
                Err(failure) if accepted && failure.category.group() == Group::Answer => {}
                Err(failure) => {
                    self.take_replayed(usage, &text, &[]);
                    return Err(Failure {
                        sent: false,
                        answer: Some(text),
                        carried,
                        ..failure
                    });
                }
            }
        }
    }

    /// Outside of a map, a call is held back only before a retry, and only if something was refused before.
    fn lines_up(&self, one: &PlannedAttempt) -> bool {
        let CallContext { core, item, .. } = self.plan.context;
        // A batch is no rush of requests.
        if self.plan.context.batches().is_some() {
            return false;
        }
        let gates = self.target.gates(core);
        item.is_some() || gates.are_paced() || (one.kind == AttemptKind::Retry && !gates.are_idle())
    }

    fn passes_at_once(&mut self) -> bool {
        let ModelAttempts {
            plan,
            target,
            keeper,
            request,
            ..
        } = self;
        let core = plan.context.core;
        keeper.set(|| target.gate(core, request));
        !target.gates(core).are_paced() && keeper.enters_at_once(&plan.context)
    }

    async fn pass_gate(
        &mut self,
        one: &PlannedAttempt,
        progress: &Progress<'_>,
    ) -> Result<(), Failure> {
        let ModelAttempts {
            plan,
            target,
            keeper,
            request,
            ..
        } = self;
        let core = plan.context.core;
        keeper.set(|| target.gate(core, request));
        let prompt = prompt_tokens(&request.messages);
        keeper
            .keep_pace(target.gates(core), prompt, plan.context)
            .await;
        keeper
            .pass(AtGateContext {
                plan,
                one,
                progress,
            })
            .await
    }

    /// `None`: the request was answered, whatever the answer is worth.
    fn report_to_gate(
        &mut self,
        failure: Option<&Failure>,
        unreached: bool,
        progress: &Progress<'_>,
    ) {
        let ModelAttempts {
            plan,
            target,
            keeper,
            request,
            open,
            ..
        } = self;
        let CallContext {
            core, call, item, ..
        } = plan.context;
        if plan.context.batches().is_some() {
            return;
        }
        let gates = target.gates(core);
        let is_down = failure.is_some_and(|failure| failure.category.group() == Group::Transport);
        if !is_down && item.is_none() && gates.are_idle() && !gates.are_paced() {
            return;
        }
        let mut used = None;
        let mut limits = None;
        if let Some(open) = open.as_mut().filter(|open| open.wants_rate_limits) {
            open.note(|record| {
                used = record
                    .usage
                    .and_then(|usage| Some((usage.total()?, usage.output)))
            });
            limits = open.rate_limits.take().map(|limits| *limits);
        }
        keeper.set(|| target.gate(core, request));
        let longest_wait = progress.longest_wait();
        keeper.report(&Report {
            plan,
            failure,
            call: call.id,
            unreached,
            longest_wait,
            used,
            limits,
        });
    }

    fn take_replayed(&self, usage: Option<Box<Usage>>, text: &str, calls: &[ToolCall]) {
        let call = self.plan.context.call;
        call.replayed(usage);
        let messages = &self.request.messages;
        call.record_event(&RunEvent::Replayed {
            call: call.id,
            messages,
            text,
            calls,
        });
    }

    fn other_model(&self) -> Option<String> {
        self.target
            .name
            .clone()
            .filter(|name| self.plan.settings.model() != Some(name))
    }

    fn resume_round(
        &mut self,
        content: &str,
        carried: Option<Arc<ProviderState>>,
        mut calls: Vec<OpenCall>,
    ) {
        if let (Some(journal), Some(recorder)) = (&self.journal, self.plan.context.call.recorder())
        {
            for OpenCall { call, state } in calls
                .iter_mut()
                .filter(|open| open.state.result().is_none())
            {
                if let Some(result) = recorder.result(&journal.conversation, call) {
                    *state = CallState::ended(result);
                }
            }
        }
        let record = |OpenCall { call, state }: &OpenCall| {
            let mut record = ToolRecord::called(&call.id, &call.name);
            if state.result().is_some() {
                record.outcome = "replayed".into();
            }
            record
        };
        self.plan
            .context
            .call
            .add_replayed_tools(calls.iter().map(record));
        self.round = Some(Round::open(content, carried, &calls));
    }

    /// The id of the conversation.
    fn root(&self) -> String {
        let within = self
            .plan
            .context
            .origin
            .and_then(|origin| origin.tool.as_ref());
        match (within, &self.root) {
            (Some((root, _)), _) => (*root).to_owned(),
            (None, Some(root)) => root.to_string(),
            (None, None) => self.plan.context.call.id.to_string(),
        }
    }

    async fn execute(&mut self, round: Box<Round>) -> Result<(), Failure> {
        let root = self.root();
        if self.plan.context.turn().is_some() {
            Box::pin(self.keep_turn(Some(&round)))
                .await
                .map_err(Failure::from_exec_error)?;
        }
        let (node, journal) = (
            &*self.node,
            self.journal.as_ref().map(|journal| &*journal.conversation),
        );
        let around = self.around.as_deref().unwrap_or_default();
        let around = ConversationId {
            conversation: (&root, around),
            depth: self.plan.context.call.depth,
            journal,
            claim: self.claim.as_deref(),
        };
        let with = Executor {
            node,
            context: &self.plan.context,
            around,
        };
        let running = self.running.insert(RunningRound::new(round));
        with.execute(running, &self.request).await?;
        let Some(RunningRound { round, states, .. }) = self.running.take().map(|running| *running)
        else {
            return Ok(());
        };
        match round.to_messages(states.into_iter().flatten().collect()) {
            Ok(messages) => {
                self.next_turn(messages, round.has_only_unknown_tools(&self.request));
                if self.plan.context.turn().is_some() {
                    Box::pin(self.keep_turn(None))
                        .await
                        .map_err(Failure::from_exec_error)?;
                }
            }
            Err(open) => return Err(Failure::paused(self.paused(root, *round, open))),
        }
        Ok(())
    }

    fn next_turn(&mut self, round: Vec<Message>, all_unknown: bool) {
        self.unknown = if all_unknown {
            self.unknown.saturating_add(1)
        } else {
            0
        };
        self.turns.1 = self.turns.1.saturating_add(1);
        if let Some(journal) = &mut self.journal {
            journal.turn = None;
        }
        self.request.messages.extend(round);
        if self.is_last_turn() {
            self.request.answer_now = true;
            // A turn that the provider paused must be returned unchanged.
            if self
                .request
                .messages
                .last()
                .is_some_and(|message| message.answers().is_some())
            {
                self.request.messages.push(Message::user(ANSWER_NOW));
            }
        }
        // Messages before a round never change: feedback and other models leave them as they are.
        self.prompt = self.request.messages.len();
        self.answers = Repetition::default();
        self.bounds.end();
        Narrowed::end(&mut self.narrowed, &mut self.request);
    }

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
    fn has_lost_its_answer(&mut self, failure: &Failure) -> bool {
        let mut is_free = self.calls_in_text;
        if let Some(open) = &mut self.open {
            open.note(|record| {
                is_free |= record.flags.contains(&Flag::FreeChoice)
                    || record.refused.iter().any(|part| part == "tool_choice");
            });
        }
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

    fn paused(&self, root: String, round: Round, calls: Vec<OpenCall>) -> Paused {
        let messages = self.request.messages.clone();
        Paused(Box::new(Conversation {
            model: self.other_model(),
            content: round.content,
            carried: round.carried.as_deref().cloned(),
            calls,
            ..self.conversation(root, messages, self.first)
        }))
    }

    fn shown(&self) -> Shown {
        let model = self
            .target
            .names(&self.request)
            .into_iter()
            .flatten()
            .next();
        shown::shown(
            &self.request,
            self.opening,
            self.first,
            self.node.own_values(),
            model,
        )
    }

    /// Without the round that is open. `prompt`: how many of the messages are the node's own.
    fn conversation(&self, root: String, messages: Vec<Message>, prompt: usize) -> Conversation {
        let failed = messages
            .iter()
            .filter(|message| message.is_failure())
            .filter_map(Message::answers);
        Conversation {
            node: self.plan.context.call.node().to_string(),
            fingerprint: fingerprint(&self.request, self.first),
            root,
            position: None,
            shown: Some(Box::new(self.shown())),
            model: None,
            edited: None,
            turns: self.turns.1,
            unknown: self.unknown,
            failed: failed.map(str::to_owned).collect(),
            prompt: Some(prompt),
            messages,
            content: String::new(),
            carried: None,
            calls: Vec::new(),
            sent: self.sent.as_deref().cloned(),
        }
    }

    /// Leaves the conversation in the call, for its report: without instructions, examples, and answers that were not accepted.
    pub(super) fn finish(self) {
        let ModelAttempts {
            plan,
            mut request,
            opening,
            prompt,
            ..
        } = self;
        // The answer has the text of the turns that it continues.
        let continued = if request.output.is_none() {
            paused_turn::count(&request)
        } else {
            0
        };
        request.messages.truncate(prompt.saturating_sub(continued));
        request
            .messages
            .drain(..opening.min(request.messages.len()));
        plan.context.call.set_messages(request.messages);
    }

    /// Writes down the turn of a conversation as far as it came. `round`: its tools are about to begin. One that must not run twice
    /// counts as begun, since a crash may come at any time.
    pub(super) async fn keep_turn(&self, round: Option<&Round>) -> Result<(), NodeError> {
        let Some(turn) = self.plan.context.turn() else {
            return Ok(());
        };
        let before = self.opening + turn.history();
        let messages = self.request.messages.get(before..self.prompt);
        let messages = messages.unwrap_or_default().to_vec();
        let own = self.first.saturating_sub(before);
        let mut conversation = self.conversation(self.root(), messages, own);
        if let Some(round) = round.or(self.round.as_deref()) {
            conversation.calls = round.as_if_begun(&self.request.tools);
            conversation.carried = round.carried.as_deref().cloned();
            conversation.content = round.content.clone();
        }
        turn.keep(&Unfinished::new(conversation)).await
    }

    /// Leaves the question and the whole rounds in the call: a fallback value may answer it.
    pub(super) fn leave_question(&self) {
        if self.plan.context.turn().is_none() {
            return;
        }
        let messages = self.request.messages.get(self.opening..self.prompt);
        self.plan
            .context
            .call
            .set_messages(messages.unwrap_or_default().to_vec());
    }

    /// What a failed call has paid for. `None`: no turn is whole.
    pub(super) fn unfinished(mut self) -> Option<Unfinished> {
        let not_begun = self.round.take().map(RunningRound::new);
        let running = self.running.take().or(not_begun);
        if self.prompt == self.first && running.is_none() {
            return None;
        }
        let mut messages = std::mem::take(&mut self.request.messages);
        messages.truncate(self.prompt);
        messages.drain(..self.opening.min(messages.len()));
        let mut conversation = self.conversation(self.root(), messages, self.first - self.opening);
        if let Some(RunningRound {
            round,
            states,
            begun,
        }) = running.map(|running| *running)
        {
            conversation.calls = round.broken_off(states, &begun, &self.request.tools);
            conversation.carried = round.carried.as_deref().cloned();
            conversation.content = round.content;
        }
        Some(Unfinished::new(conversation))
    }

    pub(super) fn resume(&mut self) -> Result<(), NodeError> {
        let Some(origin) = self.plan.context.origin.filter(|origin| origin.is_paused()) else {
            return Ok(());
        };
        let fingerprint = fingerprint(&self.request, self.first);
        let shown = self.shown();
        let now = Now {
            fingerprint: &fingerprint,
            shown: &shown,
            root: self.root.as_deref(),
        };
        let call = self.plan.context.call;
        let Some(conversation) = origin.take(&now, call)? else {
            return Ok(());
        };
        if let Some(before) = &conversation.shown {
            call.changed_since_pause(before.changes(&shown));
        }
        // A journal knows which tools have run.
        if let Some(paused) = origin.pause().filter(|_| self.journal.is_none()) {
            paused.claims().iter().try_for_each(Claim::check)?;
            self.claim = Some(Box::new(paused.claim()));
        }
        let Conversation {
            root,
            model,
            turns,
            unknown,
            content,
            carried,
            calls,
            ..
        } = conversation;
        if let Some(model) = model {
            self.change_model(model)?;
        }
        // The prompt is the node's own, whatever the pause contains.
        let rounds = conversation.prompt.unwrap_or(self.first);
        self.request.messages.truncate(self.first);
        self.request.messages.extend(
            conversation
                .messages_with_failures()
                .into_iter()
                .skip(rounds),
        );
        self.prompt = self.request.messages.len();
        (self.root, self.turns.1, self.unknown) = (Some(root.as_str().into()), *turns, *unknown);
        self.sent = conversation.sent.clone().map(Arc::new);
        if calls.is_empty() {
            // Whole rounds alone: the model is asked next.
            self.request.answer_now = !self.request.tools.is_empty() && self.is_last_turn();
        } else {
            self.resume_round(content, carried.clone().map(Arc::new), calls.clone());
        }
        Ok(())
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
            && let Some(why) = Box::pin(missed(item, recorder)).await
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

/// The journal has no answer to the item's request. Where it has others, the map's first calls are compared with it together.
async fn missed(item: &MapItem<'_>, recorder: &dyn Recorder) -> Option<NotAsked> {
    if recorder.unmatched().is_some() {
        item.is_answered();
    }
    item.control.changes().missed(recorder).await
}

/// Records nothing if no request was begun. Moves what only the record needs.
pub(super) fn record_failure(mut open: OpenAttempt<'_>, failure: &mut Failure) {
    if !failure.sent || !open.has_begun() {
        return open.forget(failure.category);
    }
    open.note(|record| {
        record.message = one_line(&failure.message, 1000);
        record.violations = std::mem::take(&mut failure.violations);
        record.retry_after = failure.retry_after;
        if let Some(answer) = failure.answer.take() {
            record.keep_answer(answer);
        }
    });
    open.commit(Some(failure.category));
}
