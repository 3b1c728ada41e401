//! OpenAI's batch API: a file of lines, each a request to chat completions or to Responses.
//!
//! An order is uploaded as a file and created by its id; its state is asked for,
//! and its results are two files, one of answers and one of refusals, in any order.
//! A batch whose creation was cut off is found again by its metadata.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use llmnode_model::batch::{
    BatchBounds, BatchLine, BatchOrder, BatchRefusal, BatchResults, BatchStatus, BatchTraces,
    BatchWire, LineResponse, LineResult, MissingLines,
};
use llmnode_model::{BoxFuture, Category, Completion, ModelError, Request, Sink};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::api::inner::Inner;
use crate::api::prepared_request::RequestContext;
use crate::batch::exchange::{Exchange, id_of, words_of};
use crate::batch::list::{CLOCKS_DIFFER, MOST_PAGES, Page, too_many_pages};
use crate::batch::order::Frame;
use crate::batch::results::{LineResults, written};
use crate::http::body::Content;
use crate::http::lenient::{Count, text, tokens};

const CHAT: &str = "chat";
const RESPONSES: &str = "responses";

/// The name of a batch stands in its metadata under this key.
const NAME: &str = "llmnode";

/// No line of JSON contains it: a line break is always before it.
const BOUNDARY: &str = "llmnode-5f1c0a9d7e3b";

/// Of a file that may be deleted by itself, in seconds.
const LONGEST_LIFE: u64 = 2_592_000;

/// Which of OpenAI's APIs a request takes.
pub(super) trait ChooseApi: Send + Sync {
    fn choose(&self, request: &Request) -> ChosenApi<'_>;

    /// Files and batches are beside both.
    fn endpoint(&self) -> &Arc<Inner>;
}

/// The API of one request.
pub(super) struct ChosenApi<'a> {
    pub(super) inner: &'a Inner,
    pub(super) is_responses: bool,
    pub(super) context: RequestContext<'a>,
}

impl ChosenApi<'_> {
    /// As orders and records name the API.
    fn name(&self) -> &'static str {
        if self.is_responses { RESPONSES } else { CHAT }
    }
}

pub(super) struct OpenAiBatches {
    apis: Arc<dyn ChooseApi>,
}

impl OpenAiBatches {
    /// `apis`: decides for each line, by the same rules as for a request that is
    /// sent at once.
    pub(super) fn over(apis: Arc<dyn ChooseApi>) -> Arc<dyn BatchWire> {
        Arc::new(OpenAiBatches { apis })
    }

    fn inner(&self) -> &Arc<Inner> {
        self.apis.endpoint()
    }

    async fn upload(&self, order: &BatchOrder) -> Result<String, ModelError> {
        let url = self.inner().batch_url("/files", "")?;
        let exchange = Exchange {
            content_type: "multipart/form-data; boundary=llmnode-5f1c0a9d7e3b",
            ..Exchange::post(url, multipart(order))
        };
        let file = self.inner().exchange(exchange).await?;
        id_of(file["id"].as_str(), "the uploaded file")
    }

    /// The name in the metadata is what finds the batch again if the answer is
    /// lost.
    async fn create(&self, order: &BatchOrder, file: &str) -> Result<String, ModelError> {
        let seconds = order.expires_after.clamp(3_600, LONGEST_LIFE);
        let body = json!({
            "input_file_id": file,
            "endpoint": endpoint(order.api),
            "completion_window": "24h",
            "metadata": {NAME: order.name},
            "output_expires_after": {"anchor": "created_at", "seconds": seconds},
        });
        let url = self.inner().batch_url("/batches", "")?;
        let batch = self
            .inner()
            .exchange(Exchange::post_json(url, &body))
            .await?;
        id_of(batch["id"].as_str(), "the batch")
    }

    /// By its metadata, or by the file that it was made of, among the newest batches.
    async fn find(&self, traces: &BatchTraces) -> Result<Option<String>, ModelError> {
        let mut after = String::new();
        for _ in 0..MOST_PAGES {
            let query = format!("?limit=100{after}");
            let url = self.inner().batch_url("/batches", &query)?;
            let list = self.inner().exchange(Exchange::get(url)).await?;
            let page = Page::of(list)?;
            let is_it = |batch: &&Value| {
                let named = batch["metadata"][NAME].as_str() == Some(&*traces.name);
                let of_file = traces.file.is_some()
                    && batch["input_file_id"].as_str() == traces.file.as_deref();
                named || of_file
            };
            if let Some(batch) = page.batches.iter().find(is_it) {
                return id_of(batch["id"].as_str(), "the batch").map(Some);
            }
            let last = page.batches.last();
            match page.next()? {
                Some(next) if !last.is_some_and(|last| is_before(last, traces)) => {
                    after = format!("&after={next}");
                }
                _ => return Ok(None),
            }
        }
        Err(too_many_pages())
    }

    async fn poll(&self, id: &str) -> Result<BatchStatus, ModelError> {
        let url = self.inner().batch_url(&format!("/batches/{id}"), "")?;
        let batch = self.inner().exchange(Exchange::get(url)).await?;
        Ok(status(&batch))
    }

    async fn cancel(&self, id: &str) -> Result<(), ModelError> {
        let url = self
            .inner()
            .batch_url(&format!("/batches/{id}/cancel"), "")?;
        self.inner()
            .exchange(Exchange::post_json(url, &json!({})))
            .await
            .map(drop)
    }

    /// Files that are gone already are no error.
    async fn delete(&self, files: &[String]) -> Result<(), ModelError> {
        for file in files {
            let url = self.inner().batch_url(&format!("/files/{file}"), "")?;
            let deleted = self.inner().exchange(Exchange::delete(url)).await;
            if let Err(error) = deleted
                && error.category != Category::NotFound
            {
                return Err(error);
            }
        }
        Ok(())
    }

    fn results(&self, status: &BatchStatus) -> Result<Box<dyn BatchResults>, ModelError> {
        let url = |file: &String| {
            self.inner()
                .batch_url(&format!("/files/{file}/content"), "")
        };
        let files: Result<Vec<_>, _> = status.results.iter().map(url).collect();
        let inner = Arc::clone(self.inner());
        Ok(Box::new(LineResults::new(inner, files?, line_result)))
    }
}

/// The newest are listed first: behind this one, there is none of the plan.
fn is_before(batch: &Value, traces: &BatchTraces) -> bool {
    let created = batch["created_at"].as_u64().map(Duration::from_secs);
    let planned = traces.planned.duration_since(SystemTime::UNIX_EPOCH);
    created
        .zip(planned.ok())
        .is_some_and(|(created, planned)| created.saturating_add(CLOCKS_DIFFER) < planned)
}

/// The path as a line has to name it, which must be that of the batch.
fn endpoint(api: &str) -> &'static str {
    match api {
        RESPONSES => "/v1/responses",
        _ => "/v1/chat/completions",
    }
}

/// Written by hand, as it is the only form of a request that is no JSON.
fn multipart(order: &BatchOrder) -> Content {
    let seconds = order.expires_after.clamp(3_600, LONGEST_LIFE).to_string();
    let fields = [
        ("purpose", "batch"),
        ("expires_after[anchor]", "created_at"),
        ("expires_after[seconds]", &*seconds),
    ];
    let mut begin = String::new();
    for (name, value) in fields {
        begin.push_str(&format!(
            "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        ));
    }
    begin.push_str(&format!(
        "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"file\"; \
         filename=\"{}.jsonl\"\r\ncontent-type: application/jsonl\r\n\r\n",
        order.name
    ));
    let url = endpoint(order.api);
    let frame = Frame {
        begin,
        before_id: r#"{"custom_id":""#,
        before_body: format!(r#"","method":"POST","url":"{url}","body":"#),
        behind_body: "}\n",
        between_lines: "",
        end: format!("\r\n--{BOUNDARY}--\r\n"),
    };
    frame.around(order)
}

/// Two files: one of answers, one of lines that failed. A completed batch that has answers and
/// does not name their file yet has not ended: they are paid for.
fn status(batch: &Value) -> BatchStatus {
    let state = batch["status"].as_str().unwrap_or_default();
    // A clean batch has been seen with an `error_file_id` of "".
    let file = |name: &str| {
        let id = batch[name].as_str().filter(|id| !id.is_empty());
        id.map(str::to_owned)
    };
    let answers = file("output_file_id");
    let counted = |name: &str| batch["request_counts"][name].as_u64();
    let is_over = matches!(state, "completed" | "failed" | "expired" | "cancelled");
    // Who cancels a batch may get none of its answers: OGX names no file then.
    let lacks_answers = state == "completed" && answers.is_none() && counted("completed") > Some(0);
    let has_ended = is_over && !lacks_answers;
    let results: Vec<String> = answers.into_iter().chain(file("error_file_id")).collect();
    let refused = (state == "failed" && results.is_empty()).then(|| refusal(batch));
    BatchStatus {
        has_ended,
        state: match lacks_answers {
            true => format!("{state}, and does not name the file of its answers yet"),
            false => words_of(state),
        },
        refused,
        files: file("input_file_id")
            .into_iter()
            .chain(results.clone())
            .collect(),
        results,
        ended_lines: counted("completed")
            .zip(counted("failed"))
            .map(|(done, failed)| done.saturating_add(failed)),
        missing: match state {
            "expired" => MissingLines::Expired,
            "cancelled" => MissingLines::Cancelled,
            _ => MissingLines::Lost,
        },
        ended: has_ended.then(|| ended(batch, state)).flatten(),
    }
}

/// The time stands under the name of the state, such as `completed_at`, in seconds since 1970.
fn ended(batch: &Value, state: &str) -> Option<SystemTime> {
    let seconds = batch[format!("{state}_at")].as_u64()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// Of a file that was not taken: what is wrong, with the numbers of lines from 1.
fn refusal(batch: &Value) -> BatchRefusal {
    let errors = batch["errors"]["data"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let message = |error: &Value| words_of(error["message"].as_str().unwrap_or("no reason"));
    let at = |error: &Value| error["line"].as_u64().filter(|line| *line > 0);
    let lines = errors.iter().filter_map(|error| {
        let line = usize::try_from(at(error)? - 1).ok()?;
        Some((line, message(error)))
    });
    let is_full = |error: &Value| error["code"] == "token_limit_exceeded";
    BatchRefusal {
        is_full: errors.iter().any(is_full),
        message: errors
            .first()
            .map_or_else(|| "no reason was given".to_owned(), message),
        lines: lines.collect(),
    }
}

/// A line of the results: a response, with a status of its own, or an error without one.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    custom_id: Cow<'a, str>,
    #[serde(borrow, default)]
    response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Response<'a> {
    #[serde(deserialize_with = "tokens")]
    status_code: Count,
    #[serde(borrow)]
    body: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "text")]
    request_id: Option<Cow<'a, str>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LineError<'a> {
    #[serde(borrow, deserialize_with = "text")]
    code: Option<Cow<'a, str>>,
}

fn line_result(line: &str) -> Option<(String, LineResult)> {
    let line: Line<'_> = serde_json::from_str(line).ok()?;
    let id = line.custom_id.into_owned();
    if let Some(response) = line.response.filter(|json| json.get().starts_with('{')) {
        let response = serde_json::from_str(response.get()).ok()?;
        return Some((id, LineResult::Response(line_response(&response))));
    }
    let error = written(line.error);
    let code = serde_json::from_str::<LineError<'_>>(error).unwrap_or_default();
    let result = match code.code.as_deref() {
        Some("batch_expired") => LineResult::Expired,
        Some("batch_cancelled") => LineResult::Cancelled,
        code => LineResult::Response(LineResponse {
            status: status_of(code.unwrap_or_default()),
            body: format!(r#"{{"error":{error}}}"#).into_bytes(),
            request_id: None,
        }),
    };
    Some((id, result))
}

/// Servers that imitate OpenAI have been seen to write the body as a text of JSON.
fn line_response(response: &Response<'_>) -> LineResponse {
    let status = response.status_code.tokens;
    let body = written(response.body);
    let body = match serde_json::from_str::<String>(body) {
        Ok(text) => text.into_bytes(),
        Err(_) => body.as_bytes().to_vec(),
    };
    LineResponse {
        status: status
            .and_then(|status| u16::try_from(status).ok())
            .unwrap_or(200),
        body,
        request_id: response.request_id.as_deref().map(str::to_owned),
    }
}

/// Of a line that failed without a response.
fn status_of(code: &str) -> u16 {
    match code {
        code if code.contains("rate_limit") => 429,
        code if code.contains("invalid") => 400,
        _ => 500,
    }
}

impl BatchWire for OpenAiBatches {
    fn place(&self) -> usize {
        Arc::as_ptr(self.inner()).addr()
    }

    fn has_api(&self, api: &str) -> bool {
        matches!(api, CHAT | RESPONSES)
    }

    fn bounds(&self) -> BatchBounds {
        BatchBounds {
            lines: 50_000,
            bytes: 190_000_000,
        }
    }

    fn line(&self, request: &Request, sink: &mut dyn Sink) -> Result<BatchLine, ModelError> {
        let chosen = self.apis.choose(request);
        let api = chosen.name();
        chosen.inner.batch_line(request, chosen.context, api, sink)
    }

    fn upload<'a>(
        &'a self,
        order: &'a BatchOrder,
    ) -> BoxFuture<'a, Result<Option<String>, ModelError>> {
        Box::pin(async { self.upload(order).await.map(Some) })
    }

    fn create<'a>(
        &'a self,
        order: &'a BatchOrder,
        file: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, ModelError>> {
        Box::pin(async move { self.create(order, file.unwrap_or_default()).await })
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
        Box::pin(async { self.results(status) })
    }

    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), ModelError>> {
        Box::pin(self.cancel(id))
    }

    fn delete<'a>(&'a self, files: &'a [String]) -> BoxFuture<'a, Result<(), ModelError>> {
        Box::pin(self.delete(files))
    }

    fn answer(
        &self,
        request: &Request,
        response: LineResponse,
        sink: &mut dyn Sink,
    ) -> Result<Completion, ModelError> {
        let chosen = self.apis.choose(request);
        chosen
            .inner
            .batch_answer(request, chosen.context, &response, sink)
    }
}
