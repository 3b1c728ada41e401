//! The answer of a node, with failures as data.

use std::error::Error as _;
use std::fmt;

use llmnode_model::{CallId, Category};
use llmnode_reader::text::one_line;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::payload::InvalidPayload;
use crate::error::NodeError;
use crate::ledger::{CallRecord, Usage, milliseconds};
use crate::run::CallReport;

const MAX_TEXT_BYTES: usize = 256;
const MAX_ITEMS: usize = 25;

/// Data, or why there is none, in a form that can be sent to another process.
///
/// In JSON, messages are in `details` and figures in `metadata`: see [the fields](#fields). `None` and empty lists
/// are left out.
///
/// Messages have at most 256 bytes and lists at most 25 items. They never contain a key, the prompt or the raw
/// answer. A violation may quote the value that it is about.
///
/// [`DynNode::respond`](super::DynNode::respond) returns it. It can also be made from the report of any call of a
/// [`DynNode`](super::DynNode): `Response::from(run.call(&ask).retries(0).report().await)`. Its `Debug` form shows no content.
#[derive(Clone)]
#[non_exhaustive]
pub struct Response {
    /// Whether there is data.
    pub success: bool,
    /// The answer, which conforms to the schema.
    pub data: Option<Value>,
    /// A stable label: the category's name, or `invalid_payload`, or `internal_error` for a panic.
    pub reason: Option<&'static str>,
    /// The category of the failure, which selected the recovery.
    pub error_type: Option<Category>,
    /// The message of the last failure; in JSON `details.message`.
    pub message: Option<String>,
    /// What was wrong with the last answer; in JSON `details.violations`.
    pub violations: Vec<String>,
    /// The HTTP status of the last failure; in JSON `details.status`.
    pub status: Option<u16>,
    /// The wait that the server asked for with the last failure, in milliseconds; in JSON `details.retry_after_ms`.
    pub retry_after_ms: Option<u64>,
    /// The call's id in the ledger; in JSON `metadata.id`.
    pub id: Option<CallId>,
    /// The node's name; in JSON `metadata.name`.
    pub name: String,
    /// Which try of the node this is, from 1, for a caller that repeats it; in JSON `metadata.attempt`.
    /// [`retry_count`](Self::retry_count) has what llmnode repeated.
    pub attempt: u32,
    /// How many requests were made; in JSON `llm.calls` of `metadata`.
    pub calls: u64,
    /// How many of them were retries; in JSON `llm.retry_count` of `metadata`.
    pub retry_count: u64,
    /// The time of the call, with waits, in milliseconds with microseconds as decimals; in JSON `metadata.duration_ms`.
    pub duration_ms: f64,
    /// The tokens of all requests; in JSON `metadata.usage`.
    pub usage: Usage,
}

impl From<Result<CallReport<Value>, NodeError>> for Response {
    fn from(outcome: Result<CallReport<Value>, NodeError>) -> Self {
        match outcome {
            Ok(report) => Response {
                success: true,
                data: Some(report.value),
                ..of(Some(&report.record))
            },
            Err(error) => {
                let last = error.attempts().last();
                let violations = last
                    .map_or(&[][..], |attempt| &attempt.violations)
                    .iter()
                    .take(MAX_ITEMS);
                Response {
                    reason: Some(reason(&error)),
                    error_type: Some(error.category()),
                    message: Some(one_line(error.message(), MAX_TEXT_BYTES)),
                    violations: violations
                        .map(|one| one_line(one.to_string(), MAX_TEXT_BYTES))
                        .collect(),
                    status: last.and_then(|attempt| attempt.status),
                    retry_after_ms: error.retry_after().map(milliseconds::whole),
                    ..of(error.record().map(|record| &**record))
                }
            }
        }
    }
}

fn of(record: Option<&CallRecord>) -> Response {
    let usage = record.map(CallRecord::usage).unwrap_or_default();
    Response {
        success: false,
        data: None,
        reason: None,
        error_type: None,
        message: None,
        violations: Vec::new(),
        status: None,
        retry_after_ms: None,
        id: record.map(|record| record.id),
        name: record
            .map(|record| record.node.clone().into_owned())
            .unwrap_or_default(),
        attempt: 1,
        calls: usage.requests,
        retry_count: usage.requests.saturating_sub(1),
        duration_ms: record.map_or(0.0, |record| record.elapsed.as_micros() as f64 / 1000.0),
        usage,
    }
}

impl Serialize for Response {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Response {
            success,
            ref data,
            reason,
            error_type,
            ..
        } = *self;
        let details = self.message.as_deref().map(|message| Details {
            message,
            violations: &self.violations,
            status: self.status,
            retry_after_ms: self.retry_after_ms,
        });
        let metadata = Metadata {
            id: self.id,
            name: &self.name,
            attempt: self.attempt,
            calls: self.calls,
            retry_count: self.retry_count,
            duration_ms: self.duration_ms,
            usage: &self.usage,
        };
        ResponseJson {
            success,
            data: data.as_ref(),
            reason,
            error_type,
            details,
            metadata,
        }
        .serialize(to)
    }
}

#[derive(Serialize)]
struct ResponseJson<'r> {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'r Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_type: Option<Category>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details<'r>>,
    metadata: Metadata<'r>,
}

#[derive(Serialize)]
struct Details<'r> {
    message: &'r str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    violations: &'r [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
}

#[derive(Serialize)]
struct Metadata<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<CallId>,
    name: &'r str,
    attempt: u32,
    #[serde(rename = "llm.calls")]
    calls: u64,
    #[serde(rename = "llm.retry_count")]
    retry_count: u64,
    duration_ms: f64,
    usage: &'r Usage,
}

fn reason(error: &NodeError) -> &'static str {
    if error
        .source()
        .is_some_and(|source| source.is::<InvalidPayload>())
    {
        return "invalid_payload";
    }
    match error.category() {
        Category::Panic => "internal_error",
        category => category.as_str(),
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("success", &self.success)
            .field("reason", &self.reason)
            .field("error_type", &self.error_type)
            .field("violations", &self.violations.len())
            .field("status", &self.status)
            .field("retry_after_ms", &self.retry_after_ms)
            .field("id", &self.id)
            .field("name", &self.name)
            .field("calls", &self.calls)
            .field("duration_ms", &self.duration_ms)
            .field("usage", &self.usage)
            .finish_non_exhaustive()
    }
}
