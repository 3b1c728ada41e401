//! The span of a call.

use llmnode_model::CallId;
use tracing::Span;
use tracing::field::{self, Empty};

use super::names::*;
use crate::ledger::{CallRecord, Labels};

pub(crate) struct CallSpan(Span);

impl CallSpan {
    pub(crate) fn begin(node: &str, id: CallId, parent: Option<CallId>, labels: &Labels) -> Self {
        CallSpan(tracing::info_span!(
            target: "llmnode::call",
            "call",
            { NAME } = node,
            { NODE } = node,
            { CALL_ID } = %id,
            { CALL_PARENT } = parent.map(field::display),
            // `tracing` has no maps, so this is the JSON of one.
            { CALL_LABELS } = (!labels.is_empty()).then(|| field::display(serde_json::json!(labels))),
            { CALL_DEGRADED } = Empty,
            { ERROR_TYPE } = Empty,
            { STATUS } = Empty,
        ))
    }

    pub(crate) fn span(&self) -> &Span {
        &self.0
    }

    pub(crate) fn end(&self, record: &CallRecord) {
        if let Some(category) = record.category {
            self.0.record(ERROR_TYPE, category.as_str()).record(STATUS, "ERROR");
        }
        if let Some(degraded) = record.degraded {
            self.0.record(CALL_DEGRADED, degraded.as_str());
            // Logged because the caller sees an output, and no error.
            tracing::warn!(
                target: "llmnode::call",
                node = &*record.node,
                call = %record.id,
                degraded = degraded.as_str(),
                first_failure = record.first_failure(),
                attempts = record.attempts.len(),
                "a fallback took the place of an answer",
            );
        }
    }
}
