//! For models under a response format that write white space after a complete
//! document until a limit stops them: the document is whole, though the provider
//! says that it was cut. Small models do so on llama.cpp, Ollama and vLLM.

use llmnode_model::ext::{is_document, padding};
use llmnode_reader::Flag;

use super::policy::{AttemptView, Change, Next, Policy};
use crate::run::response::Response;
use crate::run::tools::Round;

pub(super) struct Padding;

impl Policy for Padding {
    fn received(&self, response: &Response, attempt: &mut AttemptView<'_>) -> Option<Next> {
        if !response.was_stopped {
            return None;
        }
        let bytes = match &response.round {
            None => padding(&response.text),
            Some(round) => padding_after_calls(round),
        };
        if bytes == 0 {
            return None;
        }
        // Servers that are stopped like this may not report what was written.
        let output = attempt.ended.usage.and_then(|usage| usage.output);
        let flag = match output {
            Some(_) => None,
            None => Some(Flag::EstimatedUsage),
        };
        Some(Next::Adapt(Change::Padding { bytes, flag }))
    }
}

/// The white space after the last call, if the arguments of all are complete.
fn padding_after_calls(round: &Round) -> usize {
    let are_complete = round
        .calls()
        .iter()
        .all(|call| is_document(&call.arguments));
    match round.calls().last() {
        Some(last) if are_complete => padding(&last.arguments),
        _ => 0,
    }
}
