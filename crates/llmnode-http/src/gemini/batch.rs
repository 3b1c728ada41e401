//! Gemini's batch API, with requests and results inline: one document each.
//!
//! An order of lines in one document, and results in one document: both are held in
//! memory, which bounds an order to what the API takes inline. A batch has a
//! display name, by which one whose creation was cut off is found again.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use llmnode_model::batch::{
    BatchBounds, BatchLine, BatchOrder, BatchRefusal, BatchResults, BatchStatus, BatchTraces,
    BatchWire, LineResponse, LineResult, MissingLines,
};
use llmnode_model::{BoxFuture, Category, Completion, ModelError, Request, Sink};
use serde_json::{Value, json};

use crate::api::inner::Inner;
use crate::api::prepared_request::RequestContext;
use crate::batch::exchange::Exchange;
use crate::batch::list::{MOST_PAGES, percent_encoded, too_many_pages};
use crate::batch::order::Frame;
use crate::http::retry_after::rfc3339;

const API: &str = "generateContent";

struct GeminiBatches {
    inner: Arc<Inner>,
}

/// `None`: the host is not one that is known to have batches.
pub(super) fn batch_api(inner: &Arc<Inner>) -> Option<Arc<dyn BatchWire>> {
    let url = &inner.service.endpoint.url;
    let is_known = url.host() == "generativelanguage.googleapis.com" || url.is_loopback();
    is_known.then(|| {
        Arc::new(GeminiBatches {
            inner: Arc::clone(inner),
        }) as Arc<dyn BatchWire>
    })
}

impl GeminiBatches {
    /// The model is in the path, so an order is for one model.
    async fn create(&self, order: &BatchOrder) -> Result<String, ModelError> {
        let frame = Frame {
            begin: format!(
                r#"{{"batch":{{"displayName":{},"inputConfig":{{"requests":{{"requests":["#,
                json!(order.name)
            ),
            before_id: r#"{"metadata":{"key":""#,
            before_body: r#""},"request":"#.to_owned(),
            behind_body: "}",
            between_lines: ",",
            end: "]}}}}".to_owned(),
        };
        let path = format!("/models/{}:batchGenerateContent", order.model);
        let url = self.inner.batch_url(&path, "")?;
        let batch = self
            .inner
            .exchange(Exchange::post(url, frame.around(order)))
            .await?;
        name_of(&batch).ok_or_else(|| {
            ModelError::new(Category::BadResponse, "the batch has no name in the answer")
        })
    }

    /// In which order they are listed is not promised, so that all pages are read.
    async fn find(&self, traces: &BatchTraces) -> Result<Option<String>, ModelError> {
        let mut page = String::new();
        for _ in 0..MOST_PAGES {
            let query = format!("?pageSize=100{page}");
            let url = self.inner.batch_url("/batches", &query)?;
            let list = self.inner.exchange(Exchange::get(url)).await?;
            let batches = list["operations"].as_array().cloned().unwrap_or_default();
            let is_it =
                |batch: &&Value| batch["metadata"]["displayName"].as_str() == Some(&*traces.name);
            if let Some(batch) = batches.iter().find(is_it) {
                return Ok(name_of(batch));
            }
            match list["nextPageToken"].as_str() {
                Some(token) if !token.is_empty() => {
                    page = format!("&pageToken={}", percent_encoded(token));
                }
                _ => return Ok(None),
            }
        }
        Err(too_many_pages())
    }

    /// The batch, its results included once it has ended.
    async fn look(&self, id: &str) -> Result<Value, ModelError> {
        let url = self.inner.batch_url(&format!("/{id}"), "")?;
        self.inner.exchange(Exchange::get(url)).await
    }

    async fn cancel(&self, id: &str) -> Result<(), ModelError> {
        let url = self.inner.batch_url(&format!("/{id}:cancel"), "")?;
        self.inner
            .exchange(Exchange::post(url, Bytes::new()))
            .await
            .map(drop)
    }

    async fn results(&self, status: &BatchStatus) -> Result<Box<dyn BatchResults>, ModelError> {
        let id = status.results.first().map_or("", String::as_str);
        let mut batch = self.look(id).await?;
        let lines = match batch["response"]["inlinedResponses"]["inlinedResponses"].take() {
            Value::Array(lines) => lines,
            _ => Vec::new(),
        };
        Ok(Box::new(InlineResults {
            lines: lines.into(),
        }))
    }
}

struct InlineResults {
    lines: VecDeque<Value>,
}

impl BatchResults for InlineResults {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<(String, LineResult)>, ModelError>> {
        let mut next = None;
        while next.is_none()
            && let Some(line) = self.lines.pop_front()
        {
            next = line_result(line);
        }
        Box::pin(std::future::ready(Ok(next)))
    }
}

/// `batches/123`.
fn name_of(batch: &Value) -> Option<String> {
    let name = batch["name"].as_str().filter(|name| !name.is_empty());
    name.map(str::to_owned)
}

/// A failed batch says why, and whether it was only too full.
fn status(id: &str, batch: &Value) -> BatchStatus {
    let whole = batch["metadata"]["state"].as_str().unwrap_or_default();
    // Their SDK's names begin with `JOB_STATE_`.
    let state = whole
        .trim_start_matches("BATCH_STATE_")
        .trim_start_matches("JOB_STATE_");
    let has_ended = matches!(
        state,
        "SUCCEEDED" | "PARTIALLY_SUCCEEDED" | "FAILED" | "CANCELLED" | "EXPIRED"
    );
    let refused = (state == "FAILED").then(|| BatchRefusal {
        is_full: batch["error"]["code"] == 8,
        message: batch["error"]["message"]
            .as_str()
            .unwrap_or("no reason was given")
            .to_owned(),
        lines: Vec::new(),
    });
    BatchStatus {
        has_ended,
        state: state.to_owned(),
        refused,
        files: Vec::new(),
        results: vec![id.to_owned()],
        ended_lines: None,
        missing: match state {
            "EXPIRED" => MissingLines::Expired,
            "CANCELLED" => MissingLines::Cancelled,
            _ => MissingLines::Lost,
        },
        ended: batch["metadata"]["endTime"].as_str().and_then(rfc3339),
    }
}

/// A response or an error of google.rpc, whose code becomes the status that it
/// would have had.
fn line_result(mut line: Value) -> Option<(String, LineResult)> {
    let id = line["metadata"]["key"].as_str()?.to_owned();
    let response = line["response"].take();
    let result = if response.is_object() {
        LineResponse {
            status: 200,
            body: response.to_string().into_bytes(),
            request_id: None,
        }
    } else {
        let error = line["error"].take();
        LineResponse {
            status: status_of(error["code"].as_u64().unwrap_or(13)),
            body: json!({"error": error}).to_string().into_bytes(),
            request_id: None,
        }
    };
    Some((id, LineResult::Response(result)))
}

/// Of a code of google.rpc, or a status as it is.
fn status_of(code: u64) -> u16 {
    match code {
        3 | 9 | 11 => 400,
        16 => 401,
        7 => 403,
        5 => 404,
        8 => 429,
        14 => 503,
        4 => 504,
        status if (400..600).contains(&status) => u16::try_from(status).unwrap_or(500),
        _ => 500,
    }
}

impl BatchWire for GeminiBatches {
    fn place(&self) -> usize {
        Arc::as_ptr(&self.inner).addr()
    }

    fn has_api(&self, api: &str) -> bool {
        api == API
    }

    /// Inline, an order has 20 MB at most.
    fn bounds(&self) -> BatchBounds {
        BatchBounds {
            lines: 50_000,
            bytes: 19_000_000,
        }
    }

    fn line(&self, request: &Request, sink: &mut dyn Sink) -> Result<BatchLine, ModelError> {
        self.inner
            .batch_line(request, RequestContext::of(request), API, sink)
    }

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
        Box::pin(async { Ok(status(id, &self.look(id).await?)) })
    }

    fn results<'a>(
        &'a self,
        status: &'a BatchStatus,
    ) -> BoxFuture<'a, Result<Box<dyn BatchResults>, ModelError>> {
        Box::pin(self.results(status))
    }

    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), ModelError>> {
        Box::pin(self.cancel(id))
    }

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
