//! The conversation of a call as it leaves the call and comes back: in its report,
//! in a pause, in an error, in a store of chats.

use std::borrow::Cow;
use std::sync::Arc;

use llmnode_model::{Message, Request};

use super::ModelAttempts;
use crate::error::NodeError;
use crate::ledger::AttemptKind;
use crate::pause::{CompactedSoFar, Conversation, OpenCall, Paused, Shown, Unfinished};
use crate::run::attempt_loop::Attempts;
use crate::run::compaction::PassedOn;
use crate::run::policies::count_paused;
use crate::run::resume::{Now, fingerprint};
use crate::run::shown;
use crate::run::tools::{Round, RunningRound, take_over};
use crate::run::turn::{Shortened, Turn};

impl ModelAttempts<'_, '_> {
    /// The name of a model that is not the call's own: a fallback model, which goes
    /// on after a pause.
    pub(super) fn other_model(&self) -> Option<String> {
        let name = self.target.name.as_deref()?;
        if self.plan.settings.model() == Some(name) {
            return None;
        }
        Some(name.to_owned())
    }

    /// The conversation as it waits for somebody: with the round whose calls have no results yet.
    pub(super) fn paused(&self, root: String, round: Round, calls: Vec<OpenCall>) -> Paused {
        // With the complaints of this turn, which the model has read: they stay in
        // the conversation.
        let messages = self.uncompacted(&self.request.messages);
        Paused(Box::new(Conversation {
            model: self.other_model(),
            content: round.content,
            carried: round.carried.as_deref().cloned(),
            calls,
            ..self.conversation(root, messages, self.prompt_len)
        }))
    }

    /// The parts of the prompt by their hashes, so that whoever continues learns
    /// what has changed meanwhile.
    pub(super) fn shown(&self) -> Shown {
        let mut names = self.target.names(&self.request).into_iter().flatten();
        let model = names.next();
        shown::shown(
            &self.whole_request(),
            self.opening,
            self.prompt_len,
            self.node.own_values(),
            model,
        )
    }

    /// Without the round that is open. `prompt`: how many of the messages are the node's own.
    pub(super) fn conversation(
        &self,
        root: String,
        messages: Vec<Message>,
        prompt: usize,
    ) -> Conversation {
        let mut failed = Vec::new();
        for message in &messages {
            if message.is_failure()
                && let Some(id) = message.answers()
            {
                failed.push(id.to_owned());
            }
        }
        Conversation {
            node: self.plan.context.call.node().to_string(),
            fingerprint: fingerprint(&self.whole_request(), self.prompt_len),
            root,
            position: None,
            shown: Some(Box::new(self.shown())),
            model: None,
            edited: None,
            turns: self.history.turns.used,
            unknown: self.history.unknown_tool_rounds,
            failed,
            prompt: Some(prompt),
            messages,
            content: String::new(),
            carried: None,
            calls: Vec::new(),
            sent: self.sent.as_deref().cloned(),
            compacted: self.compacted_so_far(),
        }
    }

    /// The stable messages from a place on, as they were before any compaction.
    fn whole(&self, from: usize) -> Vec<Message> {
        let messages = &self.request.messages;
        let stable = messages.get(..self.stable_len).unwrap_or(messages);
        let mut whole = self.uncompacted(stable);
        let from = from.min(whole.len());
        whole.drain(..from);
        whole
    }

    /// The messages in place of which these are sent.
    fn uncompacted(&self, sent: &[Message]) -> Vec<Message> {
        match &self.history.compacting {
            Some(compacting) => compacting.whole(sent),
            None => sent.to_vec(),
        }
    }

    /// How many these are from the first one on.
    fn whole_length(&self) -> usize {
        match &self.history.compacting {
            Some(compacting) => compacting.whole_length(self.stable_len),
            None => self.stable_len,
        }
    }

    /// The request with them.
    fn whole_request(&self) -> Cow<'_, Request> {
        if !self.is_compacted() {
            return Cow::Borrowed(&self.request);
        }
        let mut whole = self.request.clone();
        whole.messages = self.whole(0);
        Cow::Owned(whole)
    }

    /// Whether something was left out of the conversation, or summed up.
    fn is_compacted(&self) -> bool {
        match &self.history.compacting {
            Some(compacting) => !compacting.done().is_empty(),
            None => false,
        }
    }

    fn compacted_so_far(&self) -> Option<Box<CompactedSoFar>> {
        let so_far = match (&self.history.compacting, &self.history.passed_on) {
            (Some(compacting), _) => compacting.so_far(self.prompt_len)?,
            (None, Some(passed_on)) => passed_on.so_far(self.prompt_len, self.opening),
            (None, None) => return None,
        };
        Some(Box::new(so_far))
    }

    /// The messages as they were, without the tokens that were counted of shorter conversations.
    fn restore_originals(&mut self) {
        let is_compacted = self.is_compacted();
        self.request.messages = self.whole(0);
        self.stable_len = self.request.messages.len();
        if is_compacted {
            for message in &mut self.request.messages {
                *message = message.clone().counted(None);
            }
        }
    }

    /// Leaves the conversation in the call, for its report: without instructions,
    /// examples, and answers that were not accepted.
    ///
    /// A report has what was sent. A store of conversations gets all messages as
    /// they were.
    pub(in crate::run) fn finish(&mut self) {
        let call = self.plan.context.call;
        // The answer has the text of the turns that it continues.
        let continued = if self.request.output.is_none() {
            count_paused(&self.request)
        } else {
            0
        };
        self.leave_covers(continued);
        if self.plan.context.turn().is_some() {
            self.restore_originals();
        }
        if let Some(compacting) = &mut self.history.compacting {
            call.set_compacted(compacting.take_replaced());
        }
        let mut messages = std::mem::take(&mut self.request.messages);
        messages.truncate(self.stable_len.saturating_sub(continued));
        messages.drain(..self.opening.min(messages.len()));
        call.set_messages(messages);
    }

    /// Writes down the turn of a conversation as far as it came. `round`: its tools
    /// are about to begin. One that must not run twice counts as begun, since a
    /// crash may come at any time.
    pub(in crate::run) async fn keep_turn(&self, round: Option<&Round>) -> Result<(), NodeError> {
        let Some(turn) = self.plan.context.turn() else {
            return Ok(());
        };
        let before = self.opening + turn.history();
        let messages = self.whole(before);
        let prompt_len = self.prompt_len.saturating_sub(before);
        let mut conversation = self.conversation(self.conversation_id(), messages, prompt_len);
        if let Some(round) = round.or(self.round.as_deref()) {
            conversation.calls = round.as_if_begun(self.request.callable());
            conversation.carried = round.carried.as_deref().cloned();
            conversation.content = round.content.clone();
        }
        turn.keep(&Unfinished::new(conversation)).await
    }

    /// Leaves the question and the whole rounds in the call: a fallback value may answer it.
    pub(in crate::run) fn leave_question(&self) {
        if self.plan.context.turn().is_none() {
            return;
        }
        self.leave_covers(0);
        let messages = self.whole(self.opening);
        self.plan.context.call.set_messages(messages);
    }

    /// Leaves in the turn what its store keeps of compactions. `gone`: so many of
    /// the last messages are not kept.
    fn leave_covers(&self, gone: usize) {
        let Some(turn) = self.plan.context.turn() else {
            return;
        };
        let kept = self.whole_length().saturating_sub(self.opening + gone);
        let shortened = match (&self.history.compacting, &self.history.passed_on) {
            (Some(compacting), _) => Shortened {
                is_shorter: !compacting.done().is_empty(),
                covers: compacting.covers(turn.covers(), turn.history(), kept),
            },
            (None, Some(passed_on)) => Shortened {
                is_shorter: false,
                covers: passed_on.covers(turn.covers(), turn.history(), kept),
            },
            (None, None) => return,
        };
        turn.set_shortened(shortened);
    }

    /// What a failed call has paid for. `None`: no turn is whole, and nothing was summed up.
    pub(in crate::run) fn unfinished(mut self) -> Option<Unfinished> {
        let not_begun = self.round.take().map(RunningRound::new);
        let running = self.running.take().or(not_begun);
        let compacting = self.history.compacting.as_ref();
        let has_summary = compacting.is_some_and(|compacting| compacting.has_paid());
        if self.whole_length() == self.prompt_len && running.is_none() && !has_summary {
            return None;
        }
        let id = self.conversation_id();
        let messages = self.whole(self.opening);
        let prompt = self.prompt_len - self.opening;
        let mut conversation = self.conversation(id, messages, prompt);
        if let Some(RunningRound {
            round,
            states,
            begun,
        }) = running.map(|running| *running)
        {
            conversation.calls = round.broken_off(states, &begun, self.request.callable());
            conversation.carried = round.carried.as_deref().cloned();
            conversation.content = round.content;
        }
        Some(Unfinished::new(conversation))
    }

    /// Goes on where an earlier call has stopped, if this one continues it.
    ///
    /// 1. The pause is taken only if it is of this node and of this prompt; what
    ///    has changed since is said, not refused.
    /// 2. Without a journal, the call claims what was decided, so that of two
    ///    processes one runs the approved tools.
    /// 3. The model that spoke then speaks again, behind the prompt of now.
    /// 4. Calls without a result are the first thing that happens; else the model
    ///    is asked.
    pub(super) fn resume(&mut self) -> Result<(), NodeError> {
        let Some(origin) = self.plan.context.origin.filter(|origin| origin.is_paused()) else {
            self.restore_compactions(None);
            return Ok(());
        };
        let fingerprint = fingerprint(&self.request, self.prompt_len);
        let shown = self.shown();
        let now = Now {
            fingerprint: &fingerprint,
            shown: &shown,
            root: self.conversation_id.as_deref(),
        };
        let call = self.plan.context.call;
        let Some(conversation) = origin.take(&now, call)? else {
            self.restore_compactions(None);
            return Ok(());
        };
        if let Some(before) = &conversation.shown {
            call.changed_since_pause(before.changes(&shown));
        }
        // A journal knows which tools have run.
        if let Some(paused) = origin.pause()
            && self.journal.is_none()
        {
            for claim in paused.claims() {
                claim.check()?;
            }
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
        self.take_messages(conversation);
        self.conversation_id = Some(root.as_str().into());
        self.history.turns.used = *turns;
        self.history.unknown_tool_rounds = *unknown;
        self.sent = conversation.sent.clone().map(Arc::new);
        if calls.is_empty() {
            // Whole rounds alone: the model is asked next.
            self.plan_request(AttemptKind::First);
        } else {
            let carried = carried.clone().map(Arc::new);
            self.resume_round(content, carried, calls.clone());
        }
        Ok(())
    }

    /// The rounds of a conversation behind the prompt of now, with what was found
    /// for it and what was compacted.
    fn take_messages(&mut self, conversation: &Conversation) {
        // The prompt is the node's own, whatever the pause contains.
        let rounds = conversation.prompt.unwrap_or(self.prompt_len);
        let messages = conversation.messages_with_failures();
        self.request.messages.truncate(self.prompt_len);
        self.request
            .messages
            .extend(messages.into_iter().skip(rounds));
        if self.search.is_some() {
            let before = conversation.messages.get(..rounds);
            take_over(&mut self.request, before.unwrap_or_default());
        }
        self.restore_compactions(conversation.compacted.as_deref());
        // What was found stands on messages, also on a summary in their place.
        if let Some(search) = &self.search {
            search.list(&mut self.request);
        }
        self.stable_len = self.request.messages.len();
    }

    /// Does again what was done to the conversation in the call that goes on here,
    /// or else in earlier turns of its chat. Without `compact`, it is only noted.
    fn restore_compactions(&mut self, before: Option<&CompactedSoFar>) {
        let before = before.filter(|before| before.prompt == self.prompt_len);
        let turn = self.plan.context.turn();
        let Some(compacting) = &mut self.history.compacting else {
            self.history.passed_on = match before {
                Some(before) => PassedOn::of_call(before),
                None => turn.and_then(passed_on),
            };
            return;
        };
        if let Some(before) = before {
            compacting.restore(before, &mut self.request);
            return;
        }
        let Some(turn) = turn else {
            return;
        };
        if !turn.covers().is_empty() {
            compacting.restore_covers(turn.covers(), turn.history(), &mut self.request);
            self.stable_len = self.request.messages.len();
        }
        if let Some(of_unfinished) = turn.of_unfinished() {
            compacting.offer(of_unfinished, turn.stored());
        }
        if let Some(search) = &self.search {
            search.list(&mut self.request);
        }
    }
}

fn passed_on(turn: &Turn<'_>) -> Option<Box<PassedOn>> {
    let of_unfinished = turn.of_unfinished()?;
    PassedOn::of_turn(of_unfinished, turn.covers(), turn.history(), turn.stored())
}
