//! The span of a call.

use llmnode_model::CallId;
use tracing::Span;
use tracing::field::{self, Empty};

use super::names::*;
use super::tool::failed;
use crate::ledger::{CallRecord, Labels};

pub(crate) struct CallSpan(Span);

impl CallSpan {
    /// `shared`: the span of a step or tool that is nothing but this call.
    pub(crate) fn begin(
        node: &str,
        (id, parent): (CallId, Option<CallId>),
        all: &Labels,
        shared: Option<&Span>,
    ) -> Self {
        let conversation = all.get("conversation").map(String::as_str);
        if let Some(shared) = shared {
            shared
                .record(NODE, node)
                .record(CALL_ID, field::display(id));
            shared
                .record(CALL_PARENT, parent.map(field::display))
                .record(CALL_LABELS, labels(all));
            shared.record(CONVERSATION, conversation);
            return CallSpan(shared.clone());
        }
        CallSpan(tracing::info_span!(
            target: "llmnode::call",
            "call",
            { NAME } = node,
            { NODE } = node,
            { CALL_ID } = %id,
            { CALL_PARENT } = parent.map(field::display),
            { CALL_LABELS } = labels(all),
            { CONVERSATION } = conversation,
            { OPERATION } = Empty,
            { AGENT_NAME } = Empty,
            { CALL_DEGRADED } = Empty,
            { ERROR_TYPE } = Empty,
            { STATUS } = Empty,
            { STATUS_DESCRIPTION } = Empty,
        ))
    }

    pub(crate) fn span(&self) -> &Span {
        &self.0
    }

    /// For nodes with tools. The name stays, because OpenTelemetry's span has begun.
    pub(crate) fn mark_agent(&self, node: &str) {
        self.0
            .record(OPERATION, "invoke_agent")
            .record(AGENT_NAME, node);
    }

    pub(crate) fn end(&self, record: &CallRecord) {
        if let Some(category) = record.category {
            failed(&self.0, category.as_str());
        }
        if let Some(used_fallback) = record.used_fallback {
            self.0.record(CALL_DEGRADED, used_fallback.as_str());
            // Logged because the caller sees an output, and no error.
            tracing::warn!(
                target: "llmnode::call",
                node = &*record.node,
                call = %record.id,
                degraded = used_fallback.as_str(),
                first_failure = record.first_failure(),
                attempts = record.attempts.len(),
                "a fallback took the place of an answer",
            );
        }
    }
}

/// A span without labels has no field for them.
fn labels(all: &Labels) -> Option<field::DisplayValue<serde_json::Value>> {
    (!all.is_empty()).then(|| field::display(serde_json::json!(all)))
}
