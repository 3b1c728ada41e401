use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::completion;
use super::log::{Counts, LoggedRequest};

/// One answer of a [`StubServer`](super::StubServer): what to send, when, and what to break on the way.
///
/// Constructors say what the answer is; methods add headers, delays and faults:
///
/// ```
/// use std::time::Duration;
/// # mod llmnode { pub use llmnode_stub as stub_server; }
/// use llmnode::stub_server::Reply;
///
/// let busy = Reply::error(429, "requests", "rate_limit_exceeded", "slow down").retry_after(2);
/// let slow = Reply::text("hello").after(Duration::from_millis(50)).usage(12, 3);
/// let torn = Reply::json(serde_json::json!({"name": "Ada"})).cut_short();
/// # let _ = (busy, slow, torn);
/// ```
#[derive(Clone, Debug)]
#[must_use = "a reply is sent by the server it is given to"]
pub struct Reply {
    pub(super) content: Content,
    pub(super) headers: Vec<(String, String)>,
    pub(super) finish_reason: Option<String>,
    pub(super) usage: UsageRule,
    pub(super) after: Duration,
    pub(super) body_after: Duration,
    pub(super) cut: Option<Cut>,
    /// What a stream gives the text in.
    pub(super) pieces: Option<Vec<String>>,
    /// Between two events of a stream.
    pub(super) pause: Duration,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    /// The first value that the request's schema allows.
    FromSchema,
    /// A chat completion with one choice.
    Message { content: Option<String>, refusal: Option<String> },
    /// A chat completion that calls functions, each with a JSON text, beside this text.
    Calls { content: Option<String>, calls: Vec<(String, String)> },
    /// A chat completion without any choice.
    NoChoices,
    /// A chat completion whose text is this many bytes long.
    Filler(u64),
    /// These bytes, whatever they are.
    Bytes { status: u16, content_type: &'static str, body: Arc<[u8]>, usage: Option<Counts> },
    /// These bytes one after the other, as events.
    Stream(Arc<[Vec<u8>]>),
    /// Embeddings of the request's texts.
    Embeddings,
    /// No proper answer.
    Fault(Fault),
    /// Whatever this function says.
    Ask(Responder),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    HangUp,
    Reset,
    Stall,
    Garbage,
}

/// How a body ends before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Close,
    Reset,
}

#[derive(Clone, Debug)]
pub(super) enum UsageRule {
    Counted,
    Given(Value),
    Omitted,
}

/// A function from a request to its reply.
#[derive(Clone)]
pub(super) struct Responder(pub(super) Arc<dyn Fn(&LoggedRequest) -> Reply + Send + Sync>);

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Responder")
    }
}

/// Chat completions.
impl Reply {
    pub(super) fn new(content: Content) -> Self {
        Self {
            content,
            headers: Vec::new(),
            finish_reason: None,
            usage: UsageRule::Counted,
            after: Duration::ZERO,
            body_after: Duration::ZERO,
            cut: None,
            pieces: None,
            pause: Duration::ZERO,
        }
    }

    /// Embeddings: for each text of `input` a vector of length 1, made of hashed words. Texts with words in common are near to each
    /// other. It has 64 numbers, or as many as `dimensions` says. The same text gets the same vector.
    pub fn embeddings() -> Self {
        Self::new(Content::Embeddings)
    }

    /// The first value that the request's JSON schema allows, or a short text where it has none. The schema is that of
    /// `response_format`, or the parameters of the function that `tool_choice` forces the model to call (the answer then
    /// is a call of it), or the last line of the system message, where that speaks of a JSON Schema.
    ///
    /// Understood are `type` (lists too), `enum`, `const`, `properties`, `required`, `additionalProperties`,
    /// `patternProperties`, `propertyNames`, `minProperties`, `maxProperties`, `items`, `prefixItems`, `minItems`,
    /// `maxItems`, `uniqueItems`, `minLength`, `maxLength`, `pattern` (what the crate `regex` knows), `format`, the bounds of
    /// numbers, `multipleOf`, `allOf`, `anyOf`, `oneOf` (whose branches are taken to exclude one another) and
    /// `$ref` within the schema, recursion included. Other keywords are ignored, and what a schema makes
    /// impossible comes out as `null`.
    ///
    /// The value depends on the schema alone: `const` or the first of `enum`, the first type and the first branch,
    /// `false`, 0 or the bound next to it, `"text"` or an example of the format, all properties, and one item where
    /// none is demanded. Where a type is within itself, the value ends there by the shortest way. An answer longer
    /// than the request's `max_completion_tokens` or `max_tokens`, at four characters a token, is cut there with the
    /// finish reason `length`. This is the reply to requests for which none was scripted.
    pub fn from_schema() -> Self {
        Self::new(Content::FromSchema)
    }

    /// This text, with the finish reason `stop`.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Content::Message { content: Some(text.into()), refusal: None })
    }

    /// This text in pieces: a request for a stream gets each piece in an event of its own, any other request all of them
    /// together. Every other text is streamed in pieces of four characters.
    ///
    /// A stream is what a request with `"stream": true` gets for any chat completion, with the usage as its last event if
    /// `stream_options` asks for it. [`pause`](Self::pause) slows it down; [`cut_short`](Self::cut_short) and
    /// [`reset_midway`](Self::reset_midway) break it off after half of the events.
    pub fn pieces<P: Into<String>>(pieces: impl IntoIterator<Item = P>) -> Self {
        let pieces: Vec<String> = pieces.into_iter().map(P::into).collect();
        let mut reply = Self::text(pieces.concat());
        reply.pieces = Some(pieces);
        reply
    }

    /// These bytes, each written on its own, as `text/event-stream` whatever the request asks for: events that are odd,
    /// broken, or split anywhere.
    pub fn stream<B: Into<Vec<u8>>>(pieces: impl IntoIterator<Item = B>) -> Self {
        Self::new(Content::Stream(pieces.into_iter().map(B::into).collect()))
    }

    /// This JSON value as the message's text, with the finish reason `stop`.
    pub fn json(value: impl Into<Value>) -> Self {
        Self::text(value.into().to_string())
    }

    /// A call of this function with these arguments, and `null` for content; the finish reason is `tool_calls`.
    pub fn call(name: impl Into<String>, arguments: impl Into<Value>) -> Self {
        Self::new(Content::Calls { content: None, calls: Vec::new() }).and_call(name, arguments)
    }

    /// Adds a call of this function with these arguments to a text or to other calls, with the ids `call_1`, `call_2`, and so
    /// on. A text given as arguments is sent as it stands.
    pub fn and_call(mut self, name: impl Into<String>, arguments: impl Into<Value>) -> Self {
        let arguments = match arguments.into() {
            Value::String(text) => text,
            value => value.to_string(),
        };
        if let Content::Message { content, .. } = &mut self.content {
            self.content = Content::Calls { content: content.take(), calls: Vec::new() };
        }
        if let Content::Calls { calls, .. } = &mut self.content {
            calls.push((name.into(), arguments));
        }
        self
    }

    /// The model refuses: this text as `refusal`, and `null` for content.
    pub fn refusal(text: impl Into<String>) -> Self {
        Self::new(Content::Message { content: None, refusal: Some(text.into()) })
    }

    /// A message whose content is `null`, without a refusal.
    pub fn null_content() -> Self {
        Self::new(Content::Message { content: None, refusal: None })
    }

    /// A completion whose `choices` are empty.
    pub fn no_choices() -> Self {
        Self::new(Content::NoChoices)
    }

    /// A well-formed completion whose text is `bytes` bytes long. It is sent piecewise and never held whole.
    pub fn huge(bytes: u64) -> Self {
        Self::new(Content::Filler(bytes))
    }

    /// The reply that `respond` makes out of the request. It runs when the request has been read and must not
    /// block. A panic in it closes the connection.
    pub fn for_request(respond: impl Fn(&LoggedRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self::new(Content::Ask(Responder(Arc::new(respond))))
    }
}

/// Answers that are no chat completion.
impl Reply {
    /// These bytes under this status, as `application/json` unless [`header`](Self::header) says otherwise.
    pub fn raw(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::bytes(status, "application/json", body.into())
    }

    /// An error in the shape of OpenAI's: `{"error": {"message", "type", "param": null, "code"}}`.
    ///
    /// `code` is a string with OpenAI, an integer with some other servers, and may be `()` for `null`.
    pub fn error(status: u16, kind: &str, code: impl Into<Value>, message: &str) -> Self {
        let error = json!({"error": {"message": message, "type": kind, "param": null, "code": code.into()}});
        Self::raw(status, error.to_string())
    }

    /// An HTML page under this status, as proxies and misdirected base URLs give.
    pub fn html(status: u16) -> Self {
        let page = "<!DOCTYPE html>\n<html><head><title>Stub</title></head><body><h1>No API here</h1></body></html>\n";
        Self::bytes(status, "text/html; charset=utf-8", page.into())
    }

    /// A redirect (307) to this URL.
    pub fn redirect(url: impl Into<String>) -> Self {
        Self::raw(307, Vec::new()).header("location", url)
    }

    /// Closes the connection without an answer.
    pub fn hang_up() -> Self {
        Self::new(Content::Fault(Fault::HangUp))
    }

    /// Resets the connection (TCP RST) without an answer.
    pub fn reset() -> Self {
        Self::new(Content::Fault(Fault::Reset))
    }

    /// Never answers, and keeps the connection open until the client or the server ends.
    pub fn stall() -> Self {
        Self::new(Content::Fault(Fault::Stall))
    }

    /// Sends bytes that are no HTTP, then closes the connection.
    pub fn garbage() -> Self {
        Self::new(Content::Fault(Fault::Garbage))
    }

    fn bytes(status: u16, content_type: &'static str, body: Vec<u8>) -> Self {
        Self::new(Content::Bytes { status, content_type, body: body.into(), usage: None })
    }
}

/// Changes to a reply.
impl Reply {
    /// Adds a header, sent as given. `content-type`, `content-length` and `x-request-id` take the place of the
    /// server's own, and `connection: close` is obeyed.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Adds a `retry-after` header: seconds, or an HTTP date.
    pub fn retry_after(self, when: impl fmt::Display) -> Self {
        self.header("retry-after", when.to_string())
    }

    /// Sets the finish reason of a chat completion, such as `length` or `content_filter`.
    pub fn finish_reason(mut self, reason: impl Into<String>) -> Self {
        self.finish_reason = Some(reason.into());
        self
    }

    /// Sets the usage of a chat completion, in tokens. By default it is counted: one token for every four
    /// characters, begun ones included, of the messages and of the answer.
    pub fn usage(self, prompt: u64, completion: u64) -> Self {
        self.usage_json(Counts::new(prompt, completion).to_json())
    }

    /// Sets the `usage` of a chat completion to any JSON, for details or nonsense.
    pub fn usage_json(mut self, usage: impl Into<Value>) -> Self {
        self.usage = UsageRule::Given(usage.into());
        self
    }

    /// Leaves `usage` out of a chat completion.
    pub fn without_usage(mut self) -> Self {
        self.usage = UsageRule::Omitted;
        self
    }

    /// Waits this long before anything is sent.
    pub fn after(mut self, delay: Duration) -> Self {
        self.after = delay;
        self
    }

    /// Waits this long between two events of a stream.
    pub fn pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// Waits this long in the middle of the body.
    pub fn body_after(mut self, delay: Duration) -> Self {
        self.body_after = delay;
        self
    }

    /// Closes the connection in the middle of the body, short of the `content-length` announced.
    pub fn cut_short(mut self) -> Self {
        self.cut = Some(Cut::Close);
        self
    }

    /// Resets the connection (TCP RST) in the middle of the body.
    pub fn reset_midway(mut self) -> Self {
        self.cut = Some(Cut::Reset);
        self
    }

    /// Builds the body now rather than for each request, for benchmarks: the model's name is then `stub` and the
    /// prompt counts as no tokens unless [`usage`](Self::usage) was set before. With this as the
    /// [`default_reply`](super::StubServerBuilder::default_reply) and the log off, requests are not even parsed.
    /// Replies that depend on the request stay as they are.
    pub fn prebuilt(mut self) -> Self {
        if let Some((body, usage)) = completion::without_request(&self) {
            self.content =
                Content::Bytes { status: 200, content_type: "application/json", body: body.into(), usage };
        }
        self
    }

    /// Whether the reply is the same for every request.
    pub(super) fn is_fixed(&self) -> bool {
        matches!(self.content, Content::Bytes { .. } | Content::Stream(_) | Content::Fault(_))
    }
}
