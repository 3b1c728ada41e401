//! For models with tools that get lost in a long text until they are cut: once in a
//! call, they are asked for one call or the answer, and nothing else.

use llmnode_model::Category;
use llmnode_reader::Violation;

use super::policy::{AttemptView, Next, Policy};
use crate::run::response::{Judgement, Response};

const CUT: &str =
    "was cut at the length limit; call one tool or write the answer, and nothing else";

pub(super) struct AskForLess;

impl Policy for AskForLess {
    fn after(
        &self,
        _: &Response,
        judgement: &Judgement,
        attempt: &mut AttemptView<'_>,
    ) -> Option<Next> {
        let failure = judgement.failure()?;
        let was_cut = failure.category == Category::TruncatedOutput && failure.retry.is_none();
        if !was_cut || attempt.request.tools.is_empty() || attempt.history.was_asked_for_less {
            return None;
        }
        attempt.history.was_asked_for_less = true;
        Some(Next::Correct(vec![Violation::new("", CUT)]))
    }
}
