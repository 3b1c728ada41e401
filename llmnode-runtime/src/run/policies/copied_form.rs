//! For small models that are shown the form of the answer in their prompt and copy
//! it, in place of filling it in.

use llmnode_reader::OutputSchema;
use llmnode_reader::ask::{repeated_form, repeats_form};

use super::policy::{AttemptView, Next, Policy};
use crate::run::response::Response;

pub(super) struct CopiedForm;

impl Policy for CopiedForm {
    fn received(&self, response: &Response, attempt: &mut AttemptView<'_>) -> Option<Next> {
        let schema = attempt.request.output.as_deref()?;
        // A model that was not shown the form cannot have copied it.
        if !attempt.record?.shows_form() {
            return None;
        }
        if !is_copied_form(schema, &response.text) {
            return None;
        }
        Some(Next::Correct(vec![repeated_form()]))
    }
}

/// Whether an answer repeats what the form has in place of a value.
pub(in crate::run) fn is_copied_form(schema: &OutputSchema, answer: &str) -> bool {
    repeats_form(schema, answer)
}
