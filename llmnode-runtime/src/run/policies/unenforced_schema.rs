//! For servers that take a response format and do not enforce it, such as proxies
//! that drop it: the model's handle learns of it, and shows the model the form of
//! the answer from then on.

use llmnode_model::Category;
use llmnode_reader::Flag;
use llmnode_reader::ask::without_choices;
use llmnode_reader::ext::is_met_by;

use super::policy::{AttemptView, Next, Policy};
use crate::run::response::{Judgement, Response};

pub(super) struct UnenforcedSchema;

impl Policy for UnenforcedSchema {
    fn after(
        &self,
        response: &Response,
        judgement: &Judgement,
        attempt: &mut AttemptView<'_>,
    ) -> Option<Next> {
        let schema = attempt.request.output.as_deref()?;
        // What was cut says nothing about its server.
        if response.is_cut() || !deviates(judgement) {
            return None;
        }
        // The checks of `choices` are the program's.
        if !is_met_by(without_choices(schema), &response.text) {
            attempt.model.unenforced(attempt.request);
        }
        None
    }
}

/// Whether the answer may be something that the schema does not allow. A response
/// format does not bind the thinking before it.
fn deviates(judgement: &Judgement) -> bool {
    match judgement {
        Judgement::Valid(validated) => validated
            .flags
            .iter()
            .any(|flag| *flag != Flag::AfterThinking),
        Judgement::Rejected(failure) => failure.category == Category::SchemaError,
        Judgement::Turn | Judgement::Failed(_) => false,
    }
}
