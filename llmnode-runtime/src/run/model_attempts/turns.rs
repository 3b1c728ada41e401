//! The turns of an agent: a round of tools is executed, and the model is asked with their results.

use llmnode_model::{Message, ToolCall};

use super::ModelAttempts;
use crate::ledger::{AttemptKind, OpenAttempt, ToolRecord};
use crate::pause::OpenCall;
use crate::run::attempt_loop::AfterTools;
use crate::run::failure::Failure;
use crate::run::handoff::Handoff;
use crate::run::repetition::Repetition;
use crate::run::tools::{ConversationId, Executor, Round, RunningRound, for_history, tool_index};

impl ModelAttempts<'_, '_> {
    /// The id of the conversation.
    pub(super) fn conversation_id(&self) -> String {
        let context = &self.plan.context;
        // A tool's agent speaks in the conversation of the agent that called it.
        if let Some(origin) = context.origin
            && let Some((root, _)) = &origin.tool
        {
            return (*root).to_owned();
        }
        match &self.conversation_id {
            Some(id) => id.to_string(),
            None => context.call.id.to_string(),
        }
    }

    /// Executes the calls of a round, and appends their results for the next turn.
    ///
    /// In a conversation, the turn is written down twice: before the tools begin,
    /// since a crash must not let one run again that must not, and behind them,
    /// with their results. While they run, the round is `self.running`: whatever
    /// ends this early leaves there what is done.
    pub(super) async fn execute(&mut self, round: Box<Round>) -> Result<AfterTools, Failure> {
        let conversation_id = self.conversation_id();
        if self.plan.context.turn().is_some() {
            Box::pin(self.keep_turn(Some(&round)))
                .await
                .map_err(Failure::from_exec_error)?;
        }
        let parent_path = self.parent_path.as_deref().unwrap_or_default();
        let journal = self.journal.as_ref();
        let carries = round.carried.is_some();
        let search = self.search.as_deref();
        let finding =
            search.map(|search| search.finding(&self.request, self.target.model, carries));
        let executor = Executor {
            node: &*self.node,
            context: &self.plan.context,
            conversation: ConversationId {
                id: &conversation_id,
                parent_path,
                depth: self.plan.context.call.depth,
                journal: journal.map(|journal| &*journal.conversation),
                claim: self.claim.as_deref(),
            },
            finding,
        };
        let running = self.running.insert(RunningRound::new(round));
        executor.execute(running, &self.request).await?;
        let Some(RunningRound { round, states, .. }) = self.running.take().map(|running| *running)
        else {
            return Ok(AfterTools::NextTurn);
        };
        let states = states.into_iter().flatten().collect();
        let messages = match round.to_messages(states) {
            Ok(messages) => messages,
            Err(open) => return self.end_turns(conversation_id, *round, open),
        };
        let has_found = messages.iter().any(has_found);
        let is_unknown = round.has_only_unknown_tools(&self.request) && !has_found;
        self.next_turn(messages, is_unknown);
        if self.plan.context.turn().is_some() {
            Box::pin(self.keep_turn(None))
                .await
                .map_err(Failure::from_exec_error)?;
        }
        Ok(AfterTools::NextTurn)
    }

    /// Some calls of the round have no result: the turns end with a handoff, or
    /// somebody has to decide.
    fn end_turns(
        &self,
        conversation_id: String,
        round: Round,
        mut open: Vec<OpenCall>,
    ) -> Result<AfterTools, Failure> {
        if let Some(slot) = self.plan.context.handoff() {
            let tools = self.request.callable();
            let ended = Handoff::from_round(
                &round.content,
                round.carried.as_ref(),
                open,
                for_history,
                |call: &ToolCall| self.node.hands_off(tool_index(tools, &call.name)?),
            );
            match ended {
                Ok(handoff) => {
                    slot.put(handoff);
                    return Ok(AfterTools::HandedOff);
                }
                Err(waiting) => open = waiting,
            }
        }
        Err(Failure::paused(self.paused(conversation_id, round, open)))
    }

    /// `is_unknown`: no tool of the round exists, and none was found.
    pub(super) fn next_turn(&mut self, mut round: Vec<Message>, is_unknown: bool) {
        self.history.end_round(is_unknown);
        if let Some(compacting) = &mut self.history.compacting {
            compacting.write_count(&mut round);
        }
        if let Some(journal) = &mut self.journal {
            journal.turn = None;
        }
        self.request.messages.extend(round);
        if let Some(search) = &self.search {
            search.list(&mut self.request);
        }
        self.plan_request(AttemptKind::Turn);
        // Messages before a round never change: feedback and other models leave them as they are.
        self.stable_len = self.request.messages.len();
        self.answers = Repetition::default();
    }

    /// Tells the record and the listener which tools are called.
    pub(super) fn announce(&self, round: &Round, open: &mut OpenAttempt<'_>) {
        let calls = round.calls();
        open.note(|record| {
            record.tools = calls
                .iter()
                .map(|call| ToolRecord::called(&call.id, &call.name))
                .collect();
        });
        // The text of a turn that the provider paused is the begin of the answer.
        let continues = calls.is_empty() && self.request.output.is_none();
        if let Some(listener) = self.plan.context.listener().filter(|_| !continues) {
            listener.emit_tool_calls(calls);
        }
    }
}

/// Whether a result has tools with it that can be called next.
fn has_found(message: &Message) -> bool {
    message.found().is_some_and(|found| !found.names.is_empty())
}
