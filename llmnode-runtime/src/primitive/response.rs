//! What a primitive answers where failures are data.

use std::error::Error as _;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::payload::InvalidPayload;
use crate::category::Category;
use crate::error::NodeError;
use crate::ids::CallId;
use crate::ledger::{CallRecord, Usage, milliseconds};
use crate::run::CallReport;
use crate::text::{debug_shows, one_line};

/// The most bytes of a text in [`Details`], and the most items of a list.
const TEXT: usize = 256;
const ITEMS: usize = 25;

/// Data, or why there is none, in a form that crosses the border of a process.
///
/// In JSON, fields have the names that they have here, but for two of [`Metadata`]: `calls` is `llm.calls`, and
/// `retry_count` is `llm.retry_count`. What is `None`, and a list without items, is left out.
///
/// It is made by [`Primitive::respond`](super::Primitive::respond), and out of the report of any call of a primitive:
/// `Response::from(run.call(&ask).retries(0).report().await)`. Its `Debug` form shows no content.
#[derive(Clone, Serialize)]
#[non_exhaustive]
pub struct Response {
    /// Whether there is data.
    pub success: bool,
    /// The answer, which conforms to the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// A stable label: the category's name, or `invalid_payload`, or `internal_error` for a panic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// What went wrong: what the recovery was chosen by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_type: Option<Category>,
    /// What went wrong, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
    /// What it took.
    pub metadata: Metadata,
}

/// What went wrong, in words: no text longer than 256 bytes, no list longer than 25 items, never a key, the prompt or
/// the raw answer. A violation may quote the value that it is about; the `Debug` form does not.
#[derive(Clone, Serialize)]
#[non_exhaustive]
pub struct Details {
    /// What went wrong last.
    pub message: String,
    /// What was wrong with the last answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<String>,
    /// The HTTP status of the last failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The wait that the server asked for with the last failure, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// What a call of a primitive took.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Metadata {
    /// The call's id in the ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<CallId>,
    /// The primitive's name.
    pub name: String,
    /// Which try of the block this is, from 1, for a caller that repeats the block and counts here. What llmnode
    /// repeats itself is in [`retry_count`](Self::retry_count).
    pub attempt: u32,
    /// How many requests were made; in JSON `llm.calls`.
    #[serde(rename = "llm.calls")]
    pub calls: u64,
    /// How many of them were further tries; in JSON `llm.retry_count`.
    #[serde(rename = "llm.retry_count")]
    pub retry_count: u64,
    /// From the begin of the call to its end, waits included, in milliseconds with microseconds behind the point.
    pub duration_ms: f64,
    /// The tokens of all requests.
    pub usage: Usage,
}

impl From<Result<CallReport<Value>, NodeError>> for Response {
    fn from(outcome: Result<CallReport<Value>, NodeError>) -> Self {
        let (data, record, error) = match outcome {
            Ok(CallReport { value, record }) => (Some(value), Some(record), None),
            Err(error) => (None, error.record().cloned(), Some(error)),
        };
        let error = error.as_ref();
        Response {
            success: error.is_none(),
            data,
            reason: error.map(reason),
            error_type: error.map(NodeError::category),
            details: error.map(Details::of),
            metadata: Metadata::of(record.as_deref()),
        }
    }
}

fn reason(error: &NodeError) -> &'static str {
    if error.source().is_some_and(|source| source.is::<InvalidPayload>()) {
        return "invalid_payload";
    }
    match error.category() {
        Category::Panic => "internal_error",
        category => category.as_str(),
    }
}

impl Details {
    fn of(error: &NodeError) -> Self {
        let last = error.attempts().last();
        let violations = last.map_or(&[][..], |attempt| &attempt.violations);
        Details {
            message: one_line(error.message(), TEXT),
            violations: violations.iter().take(ITEMS).map(|one| one_line(one.to_string(), TEXT)).collect(),
            status: last.and_then(|attempt| attempt.status),
            retry_after_ms: error.retry_after().map(milliseconds::whole),
        }
    }
}

impl Metadata {
    fn of(record: Option<&CallRecord>) -> Self {
        let usage = record.map(CallRecord::usage).unwrap_or_default();
        Metadata {
            id: record.map(|record| record.id),
            name: record.map(|record| record.node.clone().into_owned()).unwrap_or_default(),
            attempt: 1,
            calls: usage.requests,
            retry_count: usage.requests.saturating_sub(1),
            duration_ms: record.map_or(0.0, |record| record.elapsed.as_micros() as f64 / 1000.0),
            usage,
        }
    }
}

debug_shows!(Response: success, reason, error_type, details, metadata);

impl fmt::Debug for Details {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Details")
            .field("violations", &self.violations.len())
            .field("status", &self.status)
            .field("retry_after_ms", &self.retry_after_ms)
            .finish_non_exhaustive()
    }
}
