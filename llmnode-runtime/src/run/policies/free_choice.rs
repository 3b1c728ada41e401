//! For models that had to call a function and wrote a text instead (Mistral's, and
//! thinking models whose server then refuses to force a call), or called another
//! one, since their server ignores a name (llama.cpp's). The model's handle has
//! learned it from the response, and leaves the choice free from then on: as after
//! other refusals, the model is asked again at once.

use llmnode_model::{Category, Retry};
use llmnode_reader::Flag;

use super::cut_answer::cut_failure;
use super::policy::{AttemptView, Next, Policy};
use crate::ledger::AttemptRecord;
use crate::run::failure::Failure;
use crate::run::response::{Judgement, Response};

pub(super) struct FreeChoice;

impl Policy for FreeChoice {
    fn after(
        &self,
        response: &Response,
        judgement: &Judgement,
        attempt: &mut AttemptView<'_>,
    ) -> Option<Next> {
        if !is_free_now(attempt.record) {
            return None;
        }
        // It called a tool in place of the function for its answer, and wrote nothing beside it.
        let failure = judgement.failure()?;
        if failure.category == Category::EmptyResponse {
            return Some(Next::AskAgain);
        }
        if judgement.rejection()?.category != Category::SchemaError {
            return None;
        }
        if response.is_cut() {
            return Some(Next::GiveUp(Failure {
                retry: Some(Retry::Adapted),
                ..cut_failure(response, attempt)
            }));
        }
        Some(Next::AskAgain)
    }
}

fn is_free_now(record: Option<&AttemptRecord>) -> bool {
    record.is_some_and(|record| record.has_flag(&Flag::FreeChoice))
}
