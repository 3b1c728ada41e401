//! The span of a tool that a model calls.

use llmnode_model::{Message, ToolCall};
use llmnode_reader::text::floor_char_boundary;
use tracing::Span;
use tracing::field::Empty;

use super::content;
use super::names::*;

pub(crate) struct ToolSpan {
    span: Span,
    content: bool,
}

impl ToolSpan {
    pub(crate) fn begin(call: &ToolCall, description: &str, content: bool) -> Self {
        let ToolCall {
            id,
            name,
            arguments,
            ..
        } = call;
        let span = tracing::info_span!(
            target: "llmnode::call",
            "execute_tool",
            { NAME } = %format_args!("execute_tool {name}"),
            { OPERATION } = "execute_tool",
            { TOOL_NAME } = &**name,
            { TOOL_TYPE } = "function",
            { TOOL_DESCRIPTION } = description,
            { TOOL_CALL_ID } = &**id,
            { TOOL_ARGUMENTS } = content.then(|| content::shown(arguments)),
            { TOOL_RESULT } = Empty,
            { NODE } = Empty,
            { CALL_ID } = Empty,
            { CALL_PARENT } = Empty,
            { CALL_LABELS } = Empty,
            { CONVERSATION } = Empty,
            { CALL_DEGRADED } = Empty,
            { ERROR_TYPE } = Empty,
            { STATUS } = Empty,
            { STATUS_DESCRIPTION } = Empty,
        );
        ToolSpan { span, content }
    }

    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    pub(crate) fn end(&self, label: &str, result: Option<&Message>) {
        if self.span.is_disabled() {
            return;
        }
        if !matches!(label, "ok" | "waiting") {
            failed(&self.span, &label[..floor_char_boundary(label, 200)]);
        }
        if let Some(result) = result.filter(|_| self.content) {
            self.span
                .record(TOOL_RESULT, content::shown(&result.shown()));
        }
    }
}

pub(super) fn failed(span: &Span, what: &str) {
    span.record(ERROR_TYPE, what)
        .record(STATUS, "ERROR")
        .record(STATUS_DESCRIPTION, what);
}
