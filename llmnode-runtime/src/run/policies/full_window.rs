//! For conversations that are longer than the model's window: the handle learns the
//! window where the refusal names it, and a node that compacts its conversation is
//! asked again with a shorter one.

use llmnode_model::Category;
use llmnode_model::ext::window_in;

use super::policy::{AttemptView, FailedAttempt, Next, Policy};
use crate::run::failure::Failure;
use crate::run::response::{Judgement, Response};

pub(super) struct FullWindow;

impl Policy for FullWindow {
    fn after(
        &self,
        _: &Response,
        judgement: &Judgement,
        attempt: &mut AttemptView<'_>,
    ) -> Option<Next> {
        let failure = judgement.failure()?;
        if failure.category != Category::ContextLengthError {
            return None;
        }
        let named = window_in(&failure.message);
        if let Some(tokens) = named {
            attempt.model.learn_window(attempt.request, tokens);
        }
        let compacting = attempt.history.compacting.as_mut()?;
        if !compacting.refuse(attempt.request, named) {
            return None;
        }
        Some(Next::AskAgain)
    }

    fn explain(&self, failure: &Failure, attempt: &FailedAttempt<'_>) -> Option<String> {
        let compacting = attempt.history.compacting.as_ref()?;
        if failure.category != Category::ContextLengthError || !attempt.is_last {
            return None;
        }
        Some(compacting.why_not_shorter(attempt.request))
    }
}
