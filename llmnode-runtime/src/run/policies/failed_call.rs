//! For servers that answer with an error where a model wrote a call that they
//! cannot parse (Groq's `tool_use_failed`, and llama.cpp's), and for calls in a
//! text that are refused: it takes a turn, as a call does. In a typed node,
//! `retries` bound it.

use llmnode_model::{Category, Retry};

use super::policy::{AttemptView, Next, Policy};
use crate::run::response::{Judgement, Response};

pub(super) struct FailedCall;

impl Policy for FailedCall {
    fn after(
        &self,
        _: &Response,
        judgement: &Judgement,
        attempt: &mut AttemptView<'_>,
    ) -> Option<Next> {
        let failure = judgement.failure()?;
        let is_failed_call =
            failure.category == Category::SchemaError && failure.retry == Some(Retry::Feedback);
        let request = attempt.request;
        let may_call = !request.tools.is_empty() && !request.answer_now;
        if !is_failed_call || !may_call || request.output.is_some() {
            return None;
        }
        attempt.history.take_turn();
        Some(Next::AskAgain)
    }
}
