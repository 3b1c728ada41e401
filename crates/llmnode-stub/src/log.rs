use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use llmnode_model::TokenUsage;
use serde_json::{Value, json};

use super::headers::LoggedHeaders;
use super::request::Head;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TokenCounts {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
}

impl From<TokenCounts> for TokenUsage {
    fn from(counts: TokenCounts) -> Self {
        let mut usage = TokenUsage::new(counts.prompt_tokens, counts.completion_tokens);
        usage.total = Some(counts.total_tokens);
        usage
    }
}

impl TokenCounts {
    pub(super) fn new(prompt: u64, completion: u64) -> Self {
        Self {
            prompt_tokens: prompt,
            completion_tokens: completion,
            total_tokens: prompt.saturating_add(completion),
        }
    }

    pub(super) fn to_json(self) -> Value {
        json!({
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.total_tokens,
        })
    }

    pub(super) fn from_json(usage: &Value) -> Option<Self> {
        let count = |name: &str| usage.get(name).and_then(Value::as_u64);
        let (prompt, completion) = (count("prompt_tokens"), count("completion_tokens"));
        prompt.or(completion).or(count("total_tokens"))?;
        let sum = Self::new(prompt.unwrap_or(0), completion.unwrap_or(0));
        Some(Self { total_tokens: count("total_tokens").unwrap_or(sum.total_tokens), ..sum })
    }

    fn apply(&mut self, op: fn(u64, u64) -> u64, other: Option<Self>) {
        let Some(other) = other else { return };
        self.prompt_tokens = op(self.prompt_tokens, other.prompt_tokens);
        self.completion_tokens = op(self.completion_tokens, other.completion_tokens);
        self.total_tokens = op(self.total_tokens, other.total_tokens);
    }
}

/// A request as the server received it, and how it was answered. Cheap to clone.
///
/// `Debug` redacts the values of headers that carry credentials.
#[derive(Clone, Debug)]
pub struct LoggedRequest {
    sent: Arc<RequestData>,
    request_id: Arc<str>,
    status: Option<u16>,
    usage: Option<TokenCounts>,
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
        let json = if parse { serde_json::from_slice(&body).ok() } else { None };
        let body = match String::from_utf8_lossy(&body) {
            Cow::Owned(replaced) => replaced,
            Cow::Borrowed(_) => String::from_utf8(body).unwrap_or_default(),
        };
        let sent = RequestData { method: head.method, path: head.target, headers: head.headers, body, json };
        let request_id = format!("req-{number}").into();
        Self { sent: Arc::new(sent), request_id, status: None, usage: None, complete: false }
    }

    /// `request_id`: set if the response has its own.
    pub(super) fn record_response(
        &mut self,
        status: u16,
        usage: Option<TokenCounts>,
        request_id: Option<&str>,
    ) {
        (self.status, self.usage) = (Some(status), usage);
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

    /// Returns the role and the text of each message in the body. Several parts are joined by line ends. A part without text
    /// is shown by its type, such as `[image_url]`; [`json`](Self::json) has its content.
    #[must_use]
    pub fn messages(&self) -> Vec<(String, String)> {
        let messages = self.json().and_then(|body| body.get("messages")).and_then(Value::as_array);
        let role = |m: &Value| m.get("role").and_then(Value::as_str).unwrap_or_default().to_owned();
        messages.into_iter().flatten().map(|m| (role(m), text_of(m.get("content")))).collect()
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

fn text_of(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let word = |part: &Value, name| part.get(name).and_then(Value::as_str).map(str::to_owned);
            let texts = parts.iter().filter_map(|part| {
                word(part, "text").or_else(|| word(part, "type").map(|kind| format!("[{kind}]")))
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
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
        Self { limit, seen: AtomicU64::new(0), kept: Mutex::default(), totals: Mutex::default() }
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
