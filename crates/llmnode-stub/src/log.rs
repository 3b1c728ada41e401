use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use llmnode_model::TokenUsage;
use serde_json::Value;

use super::api::{Api, Route, model_of, route};
use super::counts::TokenCounts;
use super::headers::LoggedHeaders;
use super::request::Head;
use super::wire::conversation;

/// A request as the server received it, and how it was answered. Cheap to clone.
///
/// `Debug` redacts the values of headers that carry credentials.
#[derive(Clone, Debug)]
pub struct LoggedRequest {
    sent: Arc<RequestData>,
    request_id: Arc<str>,
    status: Option<u16>,
    usage: Option<TokenCounts>,
    refused_by: Option<&'static str>,
    pub(super) complete: bool,
}

#[derive(Debug)]
struct RequestData {
    method: String,
    path: String,
    headers: LoggedHeaders,
    body: String,
    json: Option<Value>,
}

impl LoggedRequest {
    /// `parse`: the body will be read as JSON.
    pub(super) fn new(number: u64, head: Head, body: Vec<u8>, parse: bool) -> Self {
        let json = if parse {
            serde_json::from_slice(&body).ok()
        } else {
            None
        };
        let body = match String::from_utf8_lossy(&body) {
            Cow::Owned(replaced) => replaced,
            Cow::Borrowed(_) => String::from_utf8(body).unwrap_or_default(),
        };
        let sent = RequestData {
            method: head.method,
            path: head.target,
            headers: head.headers,
            body,
            json,
        };
        let request_id = format!("req-{number}").into();
        Self {
            sent: Arc::new(sent),
            request_id,
            status: None,
            usage: None,
            refused_by: None,
            complete: false,
        }
    }

    /// `request_id`: set if the response has its own.
    pub(super) fn record_response(
        &mut self,
        status: u16,
        usage: Option<TokenCounts>,
        request_id: Option<&str>,
        refused_by: Option<&'static str>,
    ) {
        self.status = Some(status);
        self.usage = usage;
        self.refused_by = refused_by;
        if let Some(id) = request_id {
            self.request_id = id.into();
        }
    }

    /// Returns the HTTP method; empty if the head of the request could not be read.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.sent.method
    }

    /// Returns the target of the request as it was sent: the path with its query, or a whole URL if the client took the
    /// server for a proxy. It is empty if the head of the request could not be read.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.sent.path
    }

    /// Returns the names and values of the headers, as they were sent and in that order.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.sent.headers.iter()
    }

    /// Returns the value of the first header with this name; upper and lower case are the same.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.sent.headers.get(name)
    }

    /// Returns the body, with invalid UTF-8 replaced.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.sent.body
    }

    /// Returns the body as JSON, if it is JSON.
    #[must_use]
    pub fn json(&self) -> Option<&Value> {
        self.sent.json.as_ref()
    }

    /// Returns the role and the text of each message in the body, whichever API it is for: the roles are `system`, `user`,
    /// `assistant` and `tool`, and others that were sent. Several parts are joined by line ends. A part without text is shown
    /// by its type, such as `[image_url]`; [`json`](Self::json) has its content.
    #[must_use]
    pub fn messages(&self) -> Vec<(String, String)> {
        let api = self.api().unwrap_or(Api::Chat);
        self.json()
            .map(|body| conversation(api, body))
            .unwrap_or_default()
    }

    /// `None`: for none of the APIs that answer.
    pub(super) fn api(&self) -> Option<Api> {
        match route(self.method(), self.path()) {
            Some(Route::Answer(api)) => Some(api),
            _ => None,
        }
    }

    pub(super) fn logged_headers(&self) -> &LoggedHeaders {
        &self.sent.headers
    }

    /// The model that the body names, or the path.
    pub(super) fn model(&self) -> Option<&str> {
        let named = self
            .json()
            .and_then(|body| body.get("model"))
            .and_then(Value::as_str);
        named.or_else(|| model_of(self.path()))
    }

    /// Returns the `x-request-id` of the answer.
    #[must_use]
    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// Returns the status of the answer; `None` until there is one.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// Returns the name of the rule by which the request was refused, such as `all.tool-object-without-properties`; `None` if
    /// it was taken. [`refusal`](super::refusal) says more about a rule.
    #[must_use]
    pub fn refused_by(&self) -> Option<&'static str> {
        self.refused_by
    }

    /// Returns the usage that the answer states, if any.
    #[must_use]
    pub fn usage(&self) -> Option<TokenUsage> {
        self.usage.map(TokenUsage::from)
    }

    /// Returns whether the answer was written to its end. Whether the client read it is not known.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }
}

/// The first `limit` requests, and counts of all.
#[derive(Debug)]
pub(super) struct Log {
    limit: usize,
    seen: AtomicU64,
    kept: Mutex<Vec<LoggedRequest>>,
    totals: Mutex<TokenCounts>,
}

impl Log {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            seen: AtomicU64::new(0),
            kept: Mutex::default(),
            totals: Mutex::default(),
        }
    }

    pub(super) fn is_off(&self) -> bool {
        self.limit == 0
    }

    pub(super) fn next_number(&self) -> u64 {
        self.seen.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// `None`: the log is full.
    pub(super) fn keep(&self, request: &LoggedRequest) -> Option<usize> {
        if self.is_off() {
            return None;
        }
        let mut kept = lock(&self.kept);
        (kept.len() < self.limit).then(|| {
            kept.push(request.clone());
            kept.len() - 1
        })
    }

    pub(super) fn update(&self, log_index: Option<usize>, request: &LoggedRequest) {
        let Some(log_index) = log_index else { return };
        if let Some(kept) = lock(&self.kept).get_mut(log_index) {
            kept.clone_from(request);
        }
    }

    /// Called before the last bytes are sent: a client that has read them must find them counted.
    pub(super) fn add_usage(&self, usage: Option<TokenCounts>) {
        lock(&self.totals).apply(u64::saturating_add, usage);
    }

    /// For an answer whose last bytes were not sent.
    pub(super) fn subtract_usage(&self, usage: Option<TokenCounts>) {
        lock(&self.totals).apply(u64::saturating_sub, usage);
    }

    pub(super) fn requests(&self) -> Vec<LoggedRequest> {
        lock(&self.kept).clone()
    }

    pub(super) fn seen(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }

    pub(super) fn totals(&self) -> TokenUsage {
        (*lock(&self.totals)).into()
    }
}

/// A panic elsewhere leaves a valid log.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
