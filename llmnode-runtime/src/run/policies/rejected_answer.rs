//! For journals: the model is told about a bad answer, and a later process that
//! replays the call has to tell it the same. An answer that was cut, or that is
//! asked for again without a word, is not repeated.

use llmnode_model::Group;

use super::policy::{AttemptView, Change, Next, Policy};
use crate::run::response::{Judgement, Response};

pub(super) struct RejectedAnswer;

impl Policy for RejectedAnswer {
    fn after(&self, _: &Response, judgement: &Judgement, _: &mut AttemptView<'_>) -> Option<Next> {
        let rejection = judgement.rejection()?;
        if rejection.category.group() != Group::Answer {
            return None;
        }
        Some(Next::Adapt(Change::Journal))
    }
}
