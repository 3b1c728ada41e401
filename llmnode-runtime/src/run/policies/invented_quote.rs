//! For models that invent what binds, when they sum up a conversation: a quote that
//! stands in no message of the program is told to the model as wrong.

use llmnode_reader::Reader;

use super::policy::{AttemptView, Next, Policy};
use crate::run::compaction::Summary;
use crate::run::response::Response;

pub(super) struct InventedQuote;

impl Policy for InventedQuote {
    fn received(&self, response: &Response, attempt: &mut AttemptView<'_>) -> Option<Next> {
        let sources = attempt.history.sources.as_deref()?;
        // What is no summary is told otherwise.
        let summary = Reader::new().read::<Summary>(&response.text).ok()?;
        let violations = sources.violations(&summary.value);
        if violations.is_empty() {
            return None;
        }
        Some(Next::Correct(violations))
    }
}
