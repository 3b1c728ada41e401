//! For models whose server can neither force a call nor an answer (a free choice,
//! or calls in texts): a tool has run, and the model, which should write its answer
//! in the form of the type, writes prose. It is asked for the answer alone, by a
//! response format.

use llmnode_model::Category;
use llmnode_reader::Flag;

use super::policy::{AttemptView, FailedAttempt, Next, Policy, RequestPlan};
use crate::ledger::{AttemptKind, AttemptRecord};
use crate::run::failure::Failure;
use crate::run::history::History;
use crate::run::response::{Judgement, Response};

pub(super) struct LostAnswer;

impl Policy for LostAnswer {
    fn before(&self, plan: &mut RequestPlan<'_>) {
        let is_asked_again = matches!(plan.kind, AttemptKind::Correction | AttemptKind::Adapted);
        if is_asked_again
            && let Some(failure) = &plan.failure
            && has_lost_its_answer(failure, plan.record, plan.history)
        {
            plan.request.answer_now = true;
        }
    }

    /// At once, and it is no correction: the model has not been asked for the answer alone yet.
    fn after(
        &self,
        _: &Response,
        judgement: &Judgement,
        attempt: &mut AttemptView<'_>,
    ) -> Option<Next> {
        let failure = judgement.failure()?;
        let request = attempt.request;
        let may_call = !request.tools.is_empty() && !request.answer_now;
        // Another policy, or the provider, may have said what follows.
        let is_open = failure.retry.is_none();
        if !may_call || !is_open || request.output.is_none() {
            return None;
        }
        if !has_lost_its_answer(failure, attempt.record, attempt.history) {
            return None;
        }
        Some(Next::AskAgain)
    }

    /// For the user: the tool's result is there, and the last step is missing.
    fn explain(&self, failure: &Failure, attempt: &FailedAttempt<'_>) -> Option<String> {
        let is_typed = attempt.request.output.is_some();
        let is_lost = has_lost_its_answer(failure, attempt.record, attempt.history);
        if !attempt.is_last || !is_typed || !is_lost {
            return None;
        }
        let advice = match attempt.kind {
            AttemptKind::Correction => "raise",
            _ => "set",
        };
        Some(format!(
            "; the tool ran, but no answer came: {advice} `retries`"
        ))
    }
}

/// A tool has run, and the model, which cannot be made to call or to answer, wrote something else.
fn has_lost_its_answer(
    failure: &Failure,
    record: Option<&AttemptRecord>,
    history: &History,
) -> bool {
    let is_no_answer = matches!(
        failure.category,
        Category::SchemaError | Category::TruncatedOutput
    );
    is_no_answer && history.turns.used > 0 && may_write_anything(record, history)
}

fn may_write_anything(record: Option<&AttemptRecord>, history: &History) -> bool {
    let is_free = record.is_some_and(|record| {
        record.has_flag(&Flag::FreeChoice) || record.has_refused("tool_choice")
    });
    is_free || history.has_called_in_text
}
