//! A node that asks models, as the attempt loop tries it: one try is one request.

use super::attempt::attempt;
use super::attempts::{Plan, Tried, Try, Well};
use super::failure::Failure;
use super::feedback;
use super::judge::{Judge, judge};
use super::repetition::Repetition;
use super::resume::{Origin, fingerprint};
use super::run::Target;
use super::tools::{Around, Executor, Round};
use crate::category::{Category, Group};
use crate::error::NodeError;
use crate::ledger::{AttemptKind, Degraded, KeptAnswer, KeptAs, OpenAttempt, ToolRecord};
use crate::model::{ChatModel, Message, Request, Retries, Role};
use crate::panics::caught;
use crate::pause::{Conversation, Open, Paused, Stand};
use crate::settings::Next;
use crate::text::one_line;
use crate::validate::Attempt;

/// After this many rounds in a row with unknown tools only, the model has to answer.
const UNKNOWN: u32 = 2;

const ANSWER_NOW: &str = "No more tools can be called. Answer now, with what you have.";

/// The names under which answers are kept.
struct Names {
    conversation: String,
    /// The request that the turn began with. Corrections have its name, too.
    turn: Option<String>,
}

/// The model that is asked now, and the request.
pub(super) struct Asking<'r> {
    plan: &'r Plan<'r>,
    /// The model to ask if no registered one is named: the node's own, or else the run's.
    model: &'r dyn ChatModel,
    judge: &'r mut dyn Judge,
    request: Request,
    /// How many messages there were before the first answer.
    first: usize,
    /// How many messages are the prompt and the rounds so far. The messages after them are feedback.
    prompt: usize,
    target: Target<'r>,
    retries: Retries<'r>,
    answers: Repetition,
    /// The calls of tools in the last answer, until they are executed.
    round: Option<Box<Round>>,
    /// How many responses there may be at most, and how many there were.
    turns: (u32, u32),
    /// How many rounds in a row called unknown tools only.
    unknown: u32,
    /// What tells the conversation from others, if another process may continue it.
    root: Option<Box<str>>,
    /// The ids of the calls around it.
    around: Option<Box<str>>,
    /// If answers are kept: their names.
    kept: Option<Box<Names>>,
    /// The attempt that was begun last, until it is recorded.
    open: Option<OpenAttempt<'r>>,
}

impl<'r> Asking<'r> {
    pub(super) fn new(
        plan: &'r Plan<'r>,
        held: Option<&'r dyn ChatModel>,
        mut request: Request,
        turns: u32,
        judge: &'r mut dyn Judge,
    ) -> Result<Self, NodeError> {
        request.answer_now = turns == 1 && !request.tools.is_empty();
        let model = held.unwrap_or(&*plan.core.model);
        let target = plan.core.target(plan.settings.model, model);
        target.tell(&mut request, &plan.settings)?;
        let within = plan.origin.and_then(|origin| origin.kept.as_deref());
        let recorder = plan.call.recorder();
        let kept = recorder.and_then(|kept| kept.conversation(&request, target.names(&request), within));
        let root = kept.as_ref().and_then(|kept| kept.root.clone()).map(String::into_boxed_str);
        let kept = kept.map(|kept| Box::new(Names { conversation: kept.conversation, turn: None }));
        let origin = plan.origin.filter(|_| !request.tools.is_empty());
        let around = origin.and_then(Origin::around).map(String::into_boxed_str);
        let (prompt, retries) = (request.messages.len(), Retries::of(target.model));
        Ok(Asking {
            plan,
            model,
            judge,
            request,
            first: prompt,
            prompt,
            target,
            retries,
            answers: Repetition::default(),
            round: None,
            turns: (turns, 0),
            unknown: 0,
            root,
            around,
            kept,
            open: None,
        })
    }
}

impl Asking<'_> {
    /// Takes the answer that an earlier process got to this request, if there is one and it is still good. Otherwise
    /// returns how the coming answer is kept; an inner `None` means that it is not kept.
    async fn replayed(&mut self, attempt: &Attempt) -> Result<Option<Option<Box<KeptAs>>>, Failure> {
        let (Some(kept), Some(recorder)) = (&mut self.kept, self.plan.call.recorder()) else {
            return Ok(Some(None));
        };
        let (request, target) = (&self.request, &self.target);
        let name = kept.turn.get_or_insert_with(|| recorder.name(request, target.names(request))).clone();
        let conversation = kept.conversation.clone();
        loop {
            let Some((answer, usage)) = recorder.answer(&conversation, &name) else {
                let model = self.other_model();
                return Ok(Some(Some(Box::new(KeptAs { conversation, request: name, model }))));
            };
            let KeptAnswer { text, calls, accepted, model } = answer;
            // The model that gave it is asked from here on, as it was then.
            if let Some(model) = model.filter(|model| self.target.name.as_ref() != Some(model)) {
                self.change_model(&model).map_err(Failure::executed)?;
            }
            if !calls.is_empty() {
                self.plan.call.replayed(usage);
                let open = calls.into_iter().map(|call| Open { stand: Stand::Approval(None), call });
                self.goes_on(&text, open.collect());
                return Ok(None);
            }
            match judge(&mut *self.judge, &text, self.plan.settings.reader(), attempt).await {
                Ok(_) => {
                    self.plan.call.replayed(usage);
                    if let Some(listener) = self.plan.listener {
                        listener.whole(&text);
                    }
                    return Ok(None);
                }
                // It was good once. Its replacement comes next, or has to be asked for.
                Err(failure) if accepted && failure.category.group() == Group::Answer => {}
                Err(failure) => {
                    self.plan.call.replayed(usage);
                    return Err(Failure { sent: false, answer: Some(text), ..failure });
                }
            }
        }
    }

    /// The name of the model that is asked in place of the call's.
    fn other_model(&self) -> Option<String> {
        self.target.name.clone().filter(|name| self.plan.settings.model != Some(name))
    }

    /// Continues a round that was begun before. Calls whose results were kept get them.
    fn goes_on(&mut self, said: &str, mut calls: Vec<Open>) {
        if let (Some(kept), Some(recorder)) = (&self.kept, self.plan.call.recorder()) {
            for Open { call, stand } in calls.iter_mut().filter(|open| open.stand.result().is_none()) {
                if let Some(result) = recorder.result(&kept.conversation, call) {
                    *stand = Stand::ended(result);
                }
            }
        }
        let record = |Open { call, stand }: &Open| {
            let mut record = ToolRecord::called(&call.id, &call.name);
            if stand.result().is_some() {
                record.outcome = "replayed".into();
            }
            record
        };
        self.plan.call.resumes(calls.iter().map(record));
        self.round = Some(Round::open(said, &calls));
    }

    /// Executes the calls of an answer, and continues the conversation.
    async fn execute(&mut self, round: Box<Round>) -> Result<(), Failure> {
        let within = self.plan.origin.and_then(|origin| origin.tool.as_ref());
        let around = self.around.as_deref().unwrap_or_default();
        let root = match (within, &self.root) {
            (Some((root, _)), _) => (*root).to_owned(),
            (None, Some(root)) => root.to_string(),
            (None, None) => self.plan.call.id.to_string(),
        };
        let (judge, kept) = (&*self.judge, self.kept.as_ref().map(|kept| &*kept.conversation));
        let around = Around { conversation: (&root, around), depth: self.plan.call.depth, kept };
        let with = Executor { judge, plan: self.plan, around };
        let stands = round.execute(&self.request, &with).await?;
        match round.told(stands) {
            Ok(messages) => self.next_turn(messages, round.knows_none(&self.request)),
            Err(open) => return Err(Failure::paused(self.paused(root, round.said, open))),
        }
        Ok(())
    }

    /// Adds a round to the conversation.
    fn next_turn(&mut self, round: Vec<Message>, all_unknown: bool) {
        self.unknown = if all_unknown { self.unknown.saturating_add(1) } else { 0 };
        self.turns.1 = self.turns.1.saturating_add(1);
        if let Some(kept) = &mut self.kept {
            kept.turn = None;
        }
        self.request.messages.extend(round);
        if self.turns.1.saturating_add(1) >= self.turns.0 || self.unknown >= UNKNOWN {
            self.request.answer_now = true;
            self.request.messages.push(Message::user(ANSWER_NOW));
        }
        // Messages before a round never change: feedback and other models leave them as they are.
        self.prompt = self.request.messages.len();
        self.answers = Repetition::default();
    }

    /// Says in the message that the model called a tool when only an answer was allowed.
    fn called_instead(&mut self, failure: &mut Failure) {
        if !self.request.answer_now || failure.category.group() != Group::Answer {
            return;
        }
        let mut called = None;
        if let Some(open) = &mut self.open {
            open.note(|record| called = record.tools.first().map(|tool| one_line(&tool.name, 200)));
        }
        let Some(called) = called else { return };
        failure.add(&if self.unknown == UNKNOWN {
            format!(
                "; the model called `{called}` after {UNKNOWN} responses in a row without a tool that exists, where only an answer is left"
            )
        } else {
            let turns = self.turns.0;
            format!("; the last of {turns} turns was used for a call of `{called}` instead of an answer; raise `turns`")
        });
    }

    /// The conversation as it stands in a round that has not ended.
    fn paused(&self, root: String, said: String, calls: Vec<Open>) -> Paused {
        let Asking { plan, request, .. } = self;
        let messages = request.messages.clone();
        let failed = messages.iter().filter(|message| message.is_failure()).filter_map(Message::answers);
        Paused(Box::new(Conversation {
            node: plan.call.node().to_string(),
            fingerprint: fingerprint(request, self.first),
            root,
            position: None,
            model: self.other_model(),
            edited: None,
            turns: self.turns.1,
            unknown: self.unknown,
            failed: failed.map(str::to_owned).collect(),
            messages,
            said,
            calls,
        }))
    }

    /// Passes the conversation of a node with tools to the report.
    pub(super) fn ended(self) {
        let Asking { plan, request, .. } = self;
        if !request.tools.is_empty() {
            let said = request.messages.into_iter().skip_while(|message| message.role == Role::System);
            plan.call.says(said.collect());
        }
    }

    /// Continues the conversation if an earlier call of the node paused in it.
    pub(super) fn resume(&mut self) -> Result<(), NodeError> {
        let Some(origin) = self.plan.origin.filter(|origin| origin.is_paused()) else { return Ok(()) };
        let fingerprint = fingerprint(&self.request, self.first);
        let Some(conversation) = origin.take(&fingerprint, self.root.as_deref(), self.plan.call)? else {
            return Ok(());
        };
        let Conversation { root, model, turns, unknown, said, calls, .. } = conversation;
        if let Some(model) = model {
            self.change_model(model)?;
        }
        // The prompt is the node's own, whatever the pause contains.
        self.request.messages.truncate(self.first);
        self.request.messages.extend(conversation.marked().into_iter().skip(self.first));
        self.prompt = self.request.messages.len();
        (self.root, self.turns.1, self.unknown) = (Some(root.as_str().into()), *turns, *unknown);
        self.goes_on(said, calls.clone());
        Ok(())
    }
}

impl Tried for Asking<'_> {
    async fn once(&mut self, one: &Try) -> Result<(), Failure> {
        // If there is a round already, it comes from a conversation that paused.
        if self.round.is_some() {
            return Ok(());
        }
        let Some(kept_as) = self.replayed(&one.attempt).await? else { return Ok(()) };
        let Asking { plan, judge, request, target, retries, .. } = self;
        let open = self.open.insert(plan.call.attempt(one.kind, one.wait, target.name.clone()));
        open.kept_as = kept_as;
        request.correlation = Some(open.id);
        // A panic is a failure like any other, so an attempt that is dropped was always cancelled.
        let outcome = caught(|| attempt(target, request, open, &mut **judge, &one.attempt, plan)).await;
        let panicked =
            |said| Failure::new(Category::Panic, format!("the output or the model panicked: {said}"));
        self.round = match outcome.unwrap_or_else(|said| Err(panicked(said))) {
            Ok(round) => round,
            Err(mut failure) => {
                // Validators may also take too long.
                let judging = failure.category == Category::Timeout && open.has_answer();
                retries.settle(if judging { Some(true) } else { failure.endpoint_answered() });
                if failure.category == Category::NotFound {
                    failure.add(&plan.core.unregistered(target));
                }
                return Err(failure);
            }
        };
        retries.settle(Some(true));
        Ok(())
    }

    async fn ended(&mut self) -> Result<Well, NodeError> {
        // `None`: the answer was kept by an earlier process.
        let well = if self.round.is_some() { Well::Calls } else { Well::Output };
        let Some(mut open) = self.open.take() else { return Ok(well) };
        if let Some(round) = &self.round {
            open.note(|record| {
                record.tools =
                    round.calls().iter().map(|call| ToolRecord::called(&call.id, &call.name)).collect()
            });
            if let Some(listener) = self.plan.listener {
                listener.tools_called(round.calls());
            }
        }
        open.commit(None);
        self.plan.call.recorded().await.map_err(|fault| Failure::unrecorded(fault).into_error())?;
        Ok(well)
    }

    async fn round(&mut self) -> Result<(), Failure> {
        let Some(round) = self.round.take() else { return Ok(()) };
        if let Some(listener) = self.plan.listener {
            listener.all_taken().await;
        }
        self.execute(round).await
    }

    async fn failed(&mut self, _: &Try, failure: &mut Failure, next: &Next) -> Result<(), NodeError> {
        self.called_instead(failure);
        let Asking { plan, request, prompt, .. } = self;
        if matches!(next, Next::Again { kind: AttemptKind::Correction, .. }) {
            let (answer, violations) = (failure.answer.clone(), &failure.violations);
            feedback::append(
                &mut request.messages,
                *prompt,
                plan.settings.feedback_rounds,
                answer,
                violations,
            );
        }
        if let Some(listener) = plan.listener {
            listener.failed(failure.category);
        }
        self.open.take().into_iter().for_each(|open| close(open, failure));
        plan.call.recorded().await.map_err(|fault| Failure::unrecorded(fault).into_error())
    }

    fn model(&self) -> Option<String> {
        self.plan.core.known_as(&self.target, self.model)
    }

    fn change_model(&mut self, name: &str) -> Result<(), NodeError> {
        self.plan.call.degrade(Degraded::FallbackModel);
        self.target = self.plan.core.target(Some(name), self.model);
        self.retries = Retries::of(self.target.model);
        self.answers = Repetition::default();
        self.request.messages.truncate(self.prompt);
        self.target.tell(&mut self.request, &self.plan.settings)
    }

    fn grant(&mut self) -> Result<(), String> {
        self.retries.grant()
    }

    fn repeats(&mut self, failure: &Failure) -> bool {
        self.answers.repeats(failure)
    }
}

/// Records a failed attempt, unless no request was begun. What only the record needs moves there.
pub(super) fn close(mut open: OpenAttempt<'_>, failure: &mut Failure) {
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
