//! A request with all that the reading of its response needs.

use std::borrow::Cow;

use llmnode_model::internal::{Secret, redact_secrets};
use llmnode_model::{FinishReason, Request, ResponseFormat};

use super::calls::ExpectedCalls;
use crate::http::capabilities::RequestShape;
use crate::http::service::Deadline;

pub(super) struct PreparedRequest<'a> {
    pub(super) request: &'a Request,
    pub(super) model: &'a str,
    pub(super) shape: RequestShape<'a>,
    pub(super) deadline: Deadline,
    pub(super) streams: bool,
    pub(super) secrets: Cow<'a, [Secret]>,
}

impl PreparedRequest<'_> {
    pub(super) fn wanted(&self) -> ExpectedCalls<'_> {
        let function = self
            .shape
            .schema
            .filter(|(response_format, _)| *response_format == ResponseFormat::Tool)
            .map(|(_, name)| name);
        ExpectedCalls { function, tools: self.shape.tools }
    }

    /// One of the tools, or the function for the answer.
    pub(super) fn forces_a_call(&self) -> bool {
        let function = matches!(self.shape.schema, Some((ResponseFormat::Tool, _)));
        function && self.shape.tools && !self.shape.quirks.no_forced_tool
    }

    /// Redacts the known secrets only, not whatever looks like a key: a model may well be called `pplx-7b`.
    pub(super) fn clean(&self, word: Option<String>) -> Option<String> {
        word.map(|word| redact_secrets(word, &self.secrets))
    }

    pub(super) fn clean_finish(&self, finish: FinishReason) -> FinishReason {
        match finish {
            FinishReason::Other(word) => FinishReason::Other(redact_secrets(word, &self.secrets)),
            known => known,
        }
    }
}
