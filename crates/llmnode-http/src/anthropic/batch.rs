//! Anthropic's batch API: one list of requests, and one list of results, in any order.
//!
//! A batch has no name: one whose creation was cut off is found among those of that
//! time by the id of one of its lines, which stands in its results alone.
//!
//! The functions below are `BatchWire` for this API; when which is called, and what
//! is journaled in between, is the runtime's (`run/batches`). Sources: Anthropic's
//! pages "Batch processing" and "Message Batches API", for the bounds, the states
//! and the 29 days of results.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use llmnode_model::batch::{
    BatchBounds, BatchLine, BatchOrder, BatchResults, BatchStatus, BatchTraces, BatchWire,
    LineResponse, LineResult, MissingLines,
};
use llmnode_model::internal::lock;
use llmnode_model::{BoxFuture, Category, Completion, ModelError, Request, Sink};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::api::inner::Inner;
use crate::api::prepared_request::RequestContext;
use crate::batch::exchange::{Exchange, id_of, words_of};
use crate::batch::list::{CLOCKS_DIFFER, MOST_PAGES, Page, too_many_pages};
use crate::batch::order::Frame;
use crate::batch::results::{LineResults, written};
use crate::http::lenient::{object, text};
use crate::http::retry_after::rfc3339;

const API: &str = "messages";

/// A batch that was created for a plan has a time in here: creations are tried for
/// an hour after the plan, the last one may take ten minutes, and clocks differ.
const AFTER_PLAN: Duration = CLOCKS_DIFFER.saturating_add(Duration::from_secs(2 * 3_600));

/// The API at one handle's host and key.
struct AnthropicBatches {
    inner: Arc<Inner>,
    /// A batch that has ended, and a line that it does not have, by their ids: its
    /// results are not read once more at the next look.
    without_line: Mutex<HashSet<[String; 2]>>,
}

/// `None`: the host is not one that is known to have batches.
pub(super) fn batch_api(inner: &Arc<Inner>) -> Option<Arc<dyn BatchWire>> {
    let url = &inner.service.endpoint.url;
    let is_known = inner.is_providers(url.host()) || url.is_loopback();
    is_known.then(|| {
        Arc::new(AnthropicBatches {
            inner: Arc::clone(inner),
            without_line: Mutex::default(),
        }) as Arc<dyn BatchWire>
    })
}

impl AnthropicBatches {
    /// One request has all lines. The API has no field for a name of ours.
    async fn create(&self, order: &BatchOrder) -> Result<String, ModelError> {
        let frame = Frame {
            begin: r#"{"requests":["#.to_owned(),
            before_id: r#"{"custom_id":""#,
            before_body: r#"","params":"#.to_owned(),
            behind_body: "}",
            between_lines: ",",
            end: "]}".to_owned(),
        };
        let url = self.inner.batch_url("/v1/messages/batches", "")?;
        let posting = Exchange::post(url, frame.around(order));
        let batch = self.inner.exchange(posting).await?;
        id_of(batch["id"].as_str(), "the batch")
    }

    /// The batch as the API describes it.
    async fn look(&self, id: &str) -> Result<Value, ModelError> {
        let path = format!("/v1/messages/batches/{id}");
        let url = self.inner.batch_url(&path, "")?;
        self.inner.exchange(Exchange::get(url)).await
    }

    /// Page by page, from the newest, up to one that is older than the plan.
    /// Candidates are told apart by a line's id, which costs the results of each.
    async fn find(&self, traces: &BatchTraces) -> Result<Option<String>, ModelError> {
        let Some(line) = &traces.line else {
            return Ok(None);
        };
        let mut after = String::new();
        let mut open = None;
        for _ in 0..MOST_PAGES {
            let query = format!("?limit=100{after}");
            let url = self.inner.batch_url("/v1/messages/batches", &query)?;
            let list = self.inner.exchange(Exchange::get(url)).await?;
            let page = Page::of(list)?;
            for batch in page.batches.iter().filter(|batch| may_be(batch, traces)) {
                let id = id_of(batch["id"].as_str(), "the batch")?;
                match self.has_line(&id, line).await? {
                    Some(true) => return Ok(Some(id)),
                    Some(false) => {}
                    None => open = Some(id),
                }
            }
            let last = page.batches.last();
            match page.next()? {
                Some(next) if !last.is_some_and(|last| is_before(last, traces)) => {
                    after = format!("&after_id={next}");
                }
                _ => return open.map_or(Ok(None), |id| Err(is_open(&id))),
            }
        }
        Err(too_many_pages())
    }

    /// `None`: it has not ended, and only its results say which lines it has.
    async fn has_line(&self, id: &str, line: &str) -> Result<Option<bool>, ModelError> {
        let of_both = [id.to_owned(), line.to_owned()];
        if lock(&self.without_line).contains(&of_both) {
            return Ok(Some(false));
        }
        let status = status(&self.look(id).await?);
        if !status.has_ended {
            return Ok(None);
        }
        let mut results = self.results(&status)?;
        while let Some((of, _)) = results.next().await? {
            if of == line {
                return Ok(Some(true));
            }
        }
        lock(&self.without_line).insert(of_both);
        Ok(Some(false))
    }

    /// Results are one line of JSON each, in the order in which they were ready.
    fn results(&self, status: &BatchStatus) -> Result<Box<dyn BatchResults>, ModelError> {
        let Some(id) = status.results.first() else {
            let message = "the results of the batch are gone: they are kept for 29 days";
            return Err(ModelError::new(Category::NotFound, message));
        };
        let path = format!("/v1/messages/batches/{id}/results");
        let url = self.inner.batch_url(&path, "")?;
        let inner = Arc::clone(&self.inner);
        Ok(Box::new(LineResults::new(inner, vec![url], line_result)))
    }

    async fn cancel(&self, id: &str) -> Result<(), ModelError> {
        let path = format!("/v1/messages/batches/{id}/cancel");
        let url = self.inner.batch_url(&path, "")?;
        self.inner
            .exchange(Exchange::post(url, Bytes::new()))
            .await
            .map(drop)
    }
}

fn is_open(id: &str) -> ModelError {
    let message = format!(
        "the batch {id} may be the one, and has not ended; only its results say which it is"
    );
    ModelError::new(Category::Paused, message)
}

/// Whether the batch was created at the time of the plan, with as many lines.
fn may_be(batch: &Value, traces: &BatchTraces) -> bool {
    let counts = batch["request_counts"].as_object();
    let lines: u64 = counts
        .into_iter()
        .flatten()
        .filter_map(|(_, count)| count.as_u64())
        .fold(0, u64::saturating_add);
    let Some(created) = created(batch) else {
        return false;
    };
    let latest = traces.planned.checked_add(AFTER_PLAN);
    let is_in_time = !is_before(batch, traces) && latest.is_none_or(|latest| created <= latest);
    is_in_time && lines == traces.lines as u64
}

/// The newest are listed first: behind this one, there is none of the plan.
fn is_before(batch: &Value, traces: &BatchTraces) -> bool {
    let earliest = traces.planned.checked_sub(CLOCKS_DIFFER);
    let is_before = |created: SystemTime| earliest.is_some_and(|earliest| created < earliest);
    created(batch).is_some_and(is_before)
}

/// When the batch was created, if the API says so readably.
fn created(batch: &Value) -> Option<SystemTime> {
    batch["created_at"].as_str().and_then(rfc3339)
}

/// The four kinds of ended lines are counted apart; together they are all that have
/// ended.
fn status(batch: &Value) -> BatchStatus {
    let state = batch["processing_status"].as_str().unwrap_or_default();
    let mut ended_lines = Some(0_u64);
    for kind in ["succeeded", "errored", "canceled", "expired"] {
        let counted = batch["request_counts"][kind].as_u64();
        ended_lines = ended_lines
            .zip(counted)
            .map(|(all, more)| all.saturating_add(more));
    }
    let id = batch["id"].as_str().unwrap_or_default().to_owned();
    // Archived, it has no results any more.
    let has_results = batch["results_url"].is_string();
    BatchStatus {
        has_ended: state == "ended",
        state: words_of(state),
        refused: None,
        files: Vec::new(),
        results: has_results.then_some(id).into_iter().collect(),
        ended_lines,
        missing: MissingLines::Lost,
        ended: batch["ended_at"].as_str().and_then(rfc3339),
    }
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    custom_id: Cow<'a, str>,
    #[serde(borrow)]
    result: Outcome<'a>,
}

#[derive(Deserialize)]
struct Outcome<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// An error in its envelope, or alone.
#[derive(Default, Deserialize)]
#[serde(default)]
struct LineError<'a> {
    #[serde(borrow, deserialize_with = "text")]
    r#type: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "object")]
    error: Option<InnerError<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InnerError<'a> {
    #[serde(borrow, deserialize_with = "text")]
    r#type: Option<Cow<'a, str>>,
}

/// `None` for a line that cannot be read. The runtime then counts it as missing.
fn line_result(line: &str) -> Option<(String, LineResult)> {
    let Line { custom_id, result } = serde_json::from_str(line).ok()?;
    let result = match &*result.r#type {
        "succeeded" => response(200, written(result.message)),
        "errored" => {
            let error = written(result.error);
            response(status_of(&kind_of(error)), error)
        }
        "expired" => LineResult::Expired,
        "canceled" => LineResult::Cancelled,
        _ => return None,
    };
    Some((custom_id.into_owned(), result))
}

fn kind_of(error: &str) -> String {
    let error = serde_json::from_str::<LineError<'_>>(error).unwrap_or_default();
    let inner = error.error.and_then(|error| error.r#type);
    inner.or(error.r#type).unwrap_or_default().into_owned()
}

/// As a response would have come, so that it is read by the same code.
fn response(status: u16, body: &str) -> LineResult {
    LineResult::Response(LineResponse {
        status,
        body: body.as_bytes().to_vec(),
        request_id: None,
    })
}

/// The status that a request which is answered at once has with this type of error.
fn status_of(kind: &str) -> u16 {
    match kind {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => 500,
    }
}

impl BatchWire for AnthropicBatches {
    fn place(&self) -> usize {
        Arc::as_ptr(&self.inner).addr()
    }

    fn has_api(&self, api: &str) -> bool {
        api == API
    }

    /// 100,000 requests or 256 MB, whichever is reached first; some room is left
    /// for what is around the lines.
    fn bounds(&self) -> BatchBounds {
        BatchBounds {
            lines: 100_000,
            bytes: 240_000_000,
        }
    }

    fn line(&self, request: &Request, sink: &mut dyn Sink) -> Result<BatchLine, ModelError> {
        self.inner
            .batch_line(request, RequestContext::of(request), API, sink)
    }

    /// There is no file to upload: the lines are in the request that creates the
    /// batch.
    fn upload<'a>(
        &'a self,
        _: &'a BatchOrder,
    ) -> BoxFuture<'a, Result<Option<String>, ModelError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn create<'a>(
        &'a self,
        order: &'a BatchOrder,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, ModelError>> {
        Box::pin(self.create(order))
    }

    fn find<'a>(
        &'a self,
        traces: &'a BatchTraces,
    ) -> BoxFuture<'a, Result<Option<String>, ModelError>> {
        Box::pin(self.find(traces))
    }

    fn poll<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<BatchStatus, ModelError>> {
        Box::pin(async { Ok(status(&self.look(id).await?)) })
    }

    fn results<'a>(
        &'a self,
        status: &'a BatchStatus,
    ) -> BoxFuture<'a, Result<Box<dyn BatchResults>, ModelError>> {
        Box::pin(std::future::ready(self.results(status)))
    }

    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), ModelError>> {
        Box::pin(self.cancel(id))
    }

    /// Nothing was uploaded, so nothing is left.
    fn delete<'a>(&'a self, _: &'a [String]) -> BoxFuture<'a, Result<(), ModelError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn answer(
        &self,
        request: &Request,
        response: LineResponse,
        sink: &mut dyn Sink,
    ) -> Result<Completion, ModelError> {
        self.inner
            .batch_answer(request, RequestContext::of(request), &response, sink)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_that_failed_has_the_status_of_its_type() {
        let line = json!({"custom_id": "a", "result": {"type": "errored", "error": {
            "type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"},
        }}});
        let (id, result) = line_result(&line.to_string()).unwrap();
        assert_eq!(id, "a");
        assert!(matches!(
            result,
            LineResult::Response(LineResponse { status: 529, .. })
        ));
    }

    /// Whose own clock is wrong, by a time zone or so, finds its batch all the same.
    #[test]
    fn a_batch_may_be_that_of_a_plan_by_a_clock_that_is_hours_off() {
        let at = |time: &str| rfc3339(time).unwrap();
        let batch =
            |created: &str| json!({"created_at": created, "request_counts": {"processing": 3}});
        let traces = BatchTraces {
            name: "llmnode-1".to_owned(),
            api: API.to_owned(),
            model: "claude-x".to_owned(),
            file: None,
            planned: at("2026-11-30T12:00:00Z"),
            lines: 3,
            line: Some("a".to_owned()),
        };
        for (created, expected) in [
            ("2026-11-28T23:59:00Z", false),
            ("2026-11-30T00:01:00Z", true),
            ("2026-11-30T11:58:30Z", true),
            ("2026-12-01T00:30:00Z", true),
            ("2026-12-01T12:00:00Z", false),
        ] {
            assert_eq!(may_be(&batch(created), &traces), expected, "{created}");
            let is_older = at(created) < traces.planned && !expected;
            assert_eq!(is_before(&batch(created), &traces), is_older, "{created}");
        }
        let other = BatchTraces { lines: 4, ..traces };
        assert!(!may_be(&batch("2026-11-30T12:00:00Z"), &other));
    }
}
