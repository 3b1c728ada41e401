//! For agents at the end of their turns, or whose model keeps calling tools that do
//! not exist: only an answer is left, and the request says so.

use llmnode_model::{Group, Message};
use llmnode_reader::text::one_line;

use super::policy::{FailedAttempt, Policy, RequestPlan};
use crate::ledger::AttemptKind;
use crate::run::failure::Failure;
use crate::run::feedback::ANSWER_NOW;
use crate::run::history::MAX_UNKNOWN_ROUNDS;

pub(super) struct LastTurn;

impl Policy for LastTurn {
    fn before(&self, plan: &mut RequestPlan<'_>) {
        if !plan.history.is_last_turn() {
            return;
        }
        let request = &mut *plan.request;
        if plan.kind != AttemptKind::Turn {
            request.answer_now |= !request.tools.is_empty();
            return;
        }
        // Without tools, too: a provider may pause one turn after the other.
        request.answer_now = true;
        let last = request.messages.last();
        // A turn that the provider paused must be returned unchanged.
        if last.is_some_and(|message| message.answers().is_some()) {
            request.messages.push(Message::user(ANSWER_NOW));
        }
    }

    fn explain(&self, failure: &Failure, attempt: &FailedAttempt<'_>) -> Option<String> {
        let was_last = attempt.request.answer_now && attempt.history.is_last_turn();
        if !was_last || failure.category.group() != Group::Answer {
            return None;
        }
        let called = attempt.record?.tools.first()?;
        let called = one_line(&called.name, 200);
        if attempt.history.unknown_tool_rounds == MAX_UNKNOWN_ROUNDS {
            return Some(format!(
                "; the model called `{called}` after {MAX_UNKNOWN_ROUNDS} responses in a row without a tool that exists, where \
                 only an answer is left"
            ));
        }
        let turns = attempt.history.turns.limit;
        Some(format!(
            "; the last of {turns} turns was used for a call of `{called}` instead of an answer; raise `turns`"
        ))
    }
}
