//! Gemini's batch API, with requests and results inline: one document each.
//!
//! An order of lines in one document, and results in one document: both are held in
//! memory, which bounds an order to what the API takes inline. A batch has a
//! display name, by which one whose creation was cut off is found again.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use llmnode_model::batch::{
    BatchBounds, BatchLine, BatchOrder, BatchRefusal, BatchResults, BatchStatus, BatchTraces,
    BatchWire, LineResponse, LineResult, MissingLines,
};
use llmnode_model::{BoxFuture, Completion, ModelError, Request, Sink};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use serde_json::value::RawValue;

use crate::api::inner::Inner;
use crate::api::prepared_request::RequestContext;
use crate::batch::exchange::{Exchange, id_of, no_json, words_of};
use crate::batch::list::{MOST_PAGES, no_list, percent_encoded, too_many_pages};
use crate::batch::order::Frame;
use crate::batch::results::written;
use crate::http::endpoint::shown;
use crate::http::lenient::{Count, object, text, tokens};
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
        let posting = Exchange::post(url, frame.around(order));
        let batch = self.inner.exchange(posting).await?;
        // `batches/123`.
        id_of(batch["name"].as_str(), "the batch")
    }

    /// In which order they are listed is not promised, so that all pages are read.
    async fn find(&self, traces: &BatchTraces) -> Result<Option<String>, ModelError> {
        let mut page = String::new();
        for _ in 0..MOST_PAGES {
            let query = format!("?pageSize=100{page}");
            let url = self.inner.batch_url("/batches", &query)?;
            let shown_url = shown(&url);
            let body = self.inner.exchange_body(Exchange::get(url)).await?;
            let list: List<'_> =
                serde_json::from_slice(&body).map_err(|error| no_json(&shown_url, &error))?;
            if list.error.is_some() {
                return Err(no_list());
            }
            for batch in list.operations.iter().flatten() {
                let metadata = batch.metadata.as_ref();
                let name = metadata.and_then(|metadata| metadata.display_name.as_deref());
                if name == Some(&*traces.name) {
                    return id_of(batch.name.as_deref(), "the batch").map(Some);
                }
            }
            match list.next_page_token.as_deref() {
                Some(token) if !token.is_empty() => {
                    page = format!("&pageToken={}", percent_encoded(token));
                }
                _ => return Ok(None),
            }
        }
        Err(too_many_pages())
    }

    /// The batch, its results included once it has ended.
    async fn look(&self, id: &str) -> Result<Vec<u8>, ModelError> {
        let url = self.inner.batch_url(&format!("/{id}"), "")?;
        self.inner.exchange_body(Exchange::get(url)).await
    }

    async fn poll(&self, id: &str) -> Result<BatchStatus, ModelError> {
        let body = self.look(id).await?;
        let batch = serde_json::from_slice(&body).map_err(|error| no_json(id, &error))?;
        Ok(status(id, &batch))
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
        let body = self.look(id).await?;
        // A byte that is none of UTF-8 costs its character, not the answers.
        let body = String::from_utf8_lossy(&body);
        let ended: Ended<'_> = serde_json::from_str(&body).map_err(|error| no_json(id, &error))?;
        let responses = ended.response.and_then(|response| response.inlined);
        let lines = responses.and_then(|responses| responses.inlined);
        let lines = lines.into_iter().flatten();
        Ok(Box::new(InlineResults {
            lines: lines.filter_map(line_result).collect(),
        }))
    }
}

struct InlineResults {
    lines: VecDeque<(String, LineResult)>,
}

impl BatchResults for InlineResults {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<(String, LineResult)>, ModelError>> {
        Box::pin(std::future::ready(Ok(self.lines.pop_front())))
    }
}

/// A page of the list of batches. Without batches, it has no members.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct List<'a> {
    #[serde(borrow)]
    operations: Option<Vec<Operation<'a>>>,
    #[serde(borrow, deserialize_with = "text")]
    next_page_token: Option<Cow<'a, str>>,
    error: Option<IgnoredAny>,
}

/// A batch without its results, which may be long.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Operation<'a> {
    #[serde(borrow, deserialize_with = "text")]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "object")]
    metadata: Option<Metadata<'a>>,
    #[serde(borrow, deserialize_with = "object")]
    error: Option<OperationError<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(borrow, deserialize_with = "text")]
    display_name: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "text")]
    state: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "text")]
    end_time: Option<Cow<'a, str>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OperationError<'a> {
    #[serde(deserialize_with = "tokens")]
    code: Count,
    #[serde(borrow, deserialize_with = "text")]
    message: Option<Cow<'a, str>>,
}

/// The results alone.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Ended<'a> {
    #[serde(borrow, deserialize_with = "object")]
    response: Option<EndedResponse<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EndedResponse<'a> {
    #[serde(borrow, rename = "inlinedResponses", deserialize_with = "object")]
    inlined: Option<InlinedResponses<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InlinedResponses<'a> {
    #[serde(borrow, rename = "inlinedResponses")]
    inlined: Option<Vec<&'a RawValue>>,
}

/// One line of them. What the model wrote stays as it stands.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow, deserialize_with = "object")]
    metadata: Option<LineMetadata<'a>>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LineMetadata<'a> {
    #[serde(borrow, deserialize_with = "text")]
    key: Option<Cow<'a, str>>,
}

/// A failed batch says why, and whether it was only too full.
fn status(id: &str, batch: &Operation<'_>) -> BatchStatus {
    let metadata = batch.metadata.as_ref();
    let whole = metadata.and_then(|metadata| metadata.state.as_deref());
    // Their SDK's names begin with `JOB_STATE_`.
    let state = whole
        .unwrap_or_default()
        .trim_start_matches("BATCH_STATE_")
        .trim_start_matches("JOB_STATE_");
    let has_ended = matches!(
        state,
        "SUCCEEDED" | "PARTIALLY_SUCCEEDED" | "FAILED" | "CANCELLED" | "EXPIRED"
    );
    let error = batch.error.as_ref();
    let refused = (state == "FAILED").then(|| BatchRefusal {
        is_full: error.is_some_and(|error| error.code.tokens == Some(8)),
        message: words_of(
            error
                .and_then(|error| error.message.as_deref())
                .unwrap_or("no reason was given"),
        ),
        lines: Vec::new(),
    });
    BatchStatus {
        has_ended,
        state: words_of(state),
        refused,
        files: Vec::new(),
        results: vec![id.to_owned()],
        ended_lines: None,
        missing: match state {
            "EXPIRED" => MissingLines::Expired,
            "CANCELLED" => MissingLines::Cancelled,
            _ => MissingLines::Lost,
        },
        ended: metadata
            .and_then(|metadata| metadata.end_time.as_deref())
            .and_then(rfc3339),
    }
}

/// A response or an error of google.rpc, whose code becomes the status that it
/// would have had.
fn line_result(line: &RawValue) -> Option<(String, LineResult)> {
    let line: Line<'_> = serde_json::from_str(line.get()).ok()?;
    let id = line.metadata?.key?.into_owned();
    let response = line.response.filter(|json| json.get().starts_with('{'));
    let result = match response {
        Some(response) => LineResponse {
            status: 200,
            body: response.get().as_bytes().to_vec(),
            request_id: None,
        },
        None => {
            let json = written(line.error);
            let error = serde_json::from_str::<OperationError<'_>>(json).unwrap_or_default();
            LineResponse {
                status: status_of(error.code.tokens.unwrap_or(13)),
                body: format!(r#"{{"error":{json}}}"#).into_bytes(),
                request_id: None,
            }
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
        Box::pin(self.poll(id))
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
