use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::log::{LoggedRequest, TokenCounts};

/// One answer of a [`StubServer`](super::StubServer): what to send, when, and what to break on the way.
///
/// Constructors say what the answer is; methods add headers, delays and faults:
///
/// ```
/// use std::time::Duration;
/// # mod llmnode { pub use llmnode_stub as stub_server; }
/// use llmnode::stub_server::StubReply;
///
/// let busy = StubReply::error(429, "requests", "rate_limit_exceeded", "slow down").retry_after(2);
/// let slow = StubReply::text("hello").after(Duration::from_millis(50)).usage(12, 3);
/// let torn = StubReply::json(serde_json::json!({"name": "Ada"})).cut_short();
/// # let _ = (busy, slow, torn);
/// ```
#[derive(Clone, Debug)]
#[must_use = "a reply is sent by the server it is given to"]
pub struct StubReply {
    pub(super) content: Content,
    pub(super) headers: Vec<(String, String)>,
    pub(super) finish_reason: Option<String>,
    pub(super) usage: UsageRule,
    pub(super) after: Duration,
    pub(super) body_after: Duration,
    pub(super) cut: Option<Cut>,
    pub(super) pieces: Option<Vec<String>>,
    pub(super) pause: Duration,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    FromSchema,
    /// With one choice.
    Message {
        content: Option<String>,
        refusal: Option<String>,
    },
    /// With arguments as JSON.
    Calls {
        content: Option<String>,
        calls: Vec<(String, String)>,
    },
    /// A completion without any choice.
    NoChoices,
    /// Bytes of its text.
    Filler(u64),
    Bytes {
        status: u16,
        content_type: &'static str,
        body: Arc<[u8]>,
        usage: Option<TokenCounts>,
    },
    /// One after the other, as events.
    Stream(Arc<[Vec<u8>]>),
    Embeddings,
    Fault(Fault),
    Respond(Responder),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    HangUp,
    Reset,
    Stall,
    Garbage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Close,
    Reset,
}

#[derive(Clone, Debug)]
pub(super) enum UsageRule {
    Counted,
    Explicit(Value),
    Omitted,
}

#[derive(Clone)]
pub(super) struct Responder(pub(super) Arc<dyn Fn(&LoggedRequest) -> StubReply + Send + Sync>);

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Responder")
    }
}

/// Chat completions.
impl StubReply {
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

    /// Answers with a vector of length 1 for each text of `input`, made of hashed words. Texts with words in common are close
    /// to each other. A vector has 64 numbers, or as many as `dimensions` says. The same text gets the same vector.
    pub fn embeddings() -> Self {
        Self::new(Content::Embeddings)
    }

    /// Answers with a small value that the request's JSON schema allows, or with a short text if the request has no schema.
    /// The schema is that of `response_format`, or the parameters of the function that `tool_choice` forces the model to call
    /// (the answer is then a call of it), or what a system message ends with: a form of llmnode's, or a JSON Schema.
    ///
    /// The value is `const`, the first of `enum`, or `default`; otherwise one of the first type: the required members,
    /// `minItems` items, `false`, the lowest number that is allowed (0 if none is the lowest), or `"text"` in a length that
    /// is allowed. `$ref` within the schema is followed, and of `anyOf` and `oneOf` the first branch counts that has a
    /// value. The value depends only on the schema.
    ///
    /// What this cannot fulfil, such as `pattern`, the `format` of a string, `allOf`, or a type that requires itself, is an
    /// error (status 400) that names it: script a reply instead.
    ///
    /// An answer longer than the request's `max_completion_tokens` or `max_tokens`, at four characters a token, is cut off
    /// there, with the finish reason `length`. This is the reply to requests without a scripted one.
    pub fn from_schema() -> Self {
        Self::new(Content::FromSchema)
    }

    /// Answers with this text, and the finish reason `stop`.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Content::Message { content: Some(text.into()), refusal: None })
    }

    /// Answers with this text in pieces. A request for a stream gets each piece as one event, any other request gets all of
    /// them together. All other texts are streamed in pieces of four characters.
    ///
    /// A request with `"stream": true` gets a stream for every chat completion. If `stream_options` asks for it, the last
    /// event has the usage. [`pause`](Self::pause) slows it down; [`cut_short`](Self::cut_short) and
    /// [`reset_midway`](Self::reset_midway) break it off after half of the events.
    pub fn pieces<P: Into<String>>(pieces: impl IntoIterator<Item = P>) -> Self {
        let pieces: Vec<String> = pieces.into_iter().map(P::into).collect();
        let mut reply = Self::text(pieces.concat());
        reply.pieces = Some(pieces);
        reply
    }

    /// Answers with these bytes, each piece written separately, as `text/event-stream`, whatever the request asks for. The
    /// events may be odd, broken, or split anywhere.
    pub fn stream<B: Into<Vec<u8>>>(pieces: impl IntoIterator<Item = B>) -> Self {
        Self::new(Content::Stream(pieces.into_iter().map(B::into).collect()))
    }

    /// Answers with this JSON value as the text of the message, and the finish reason `stop`.
    pub fn json(value: impl Into<Value>) -> Self {
        Self::text(value.into().to_string())
    }

    /// Answers with a call of this function, with these arguments and `null` as the content. The finish reason is
    /// `tool_calls`.
    pub fn call(name: impl Into<String>, arguments: impl Into<Value>) -> Self {
        Self::new(Content::Calls { content: None, calls: Vec::new() }).and_call(name, arguments)
    }

    /// Adds a call of this function with these arguments to a text or to other calls, with the ids `call_1`, `call_2`, and so
    /// on. If the arguments are a text, it is sent unchanged.
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

    /// Answers with a refusal: this text in `refusal`, and `null` as the content.
    pub fn refusal(text: impl Into<String>) -> Self {
        Self::new(Content::Message { content: None, refusal: Some(text.into()) })
    }

    /// Answers with a message whose content is `null`, without a refusal.
    pub fn null_content() -> Self {
        Self::new(Content::Message { content: None, refusal: None })
    }

    /// Answers with a completion whose `choices` are empty.
    pub fn no_choices() -> Self {
        Self::new(Content::NoChoices)
    }

    /// Answers with a well-formed completion whose text has this many bytes. It is sent in pieces and never held as a whole.
    pub fn huge(bytes: u64) -> Self {
        Self::new(Content::Filler(bytes))
    }

    /// Answers with the reply that `respond` makes from the request. The function runs when the request has been read, and
    /// must not block. A panic in it closes the connection.
    pub fn for_request(respond: impl Fn(&LoggedRequest) -> StubReply + Send + Sync + 'static) -> Self {
        Self::new(Content::Respond(Responder(Arc::new(respond))))
    }
}

/// Answers that are not chat completions.
impl StubReply {
    /// Answers with this status and these bytes, as `application/json` unless [`header`](Self::header) says otherwise.
    pub fn raw(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::bytes(status, "application/json", body.into())
    }

    /// Answers with an error in OpenAI's form: `{"error": {"message", "type", "param": null, "code"}}`.
    ///
    /// `code` is a string with OpenAI, an integer with some other servers, and may be `()` for `null`.
    pub fn error(status: u16, kind: &str, code: impl Into<Value>, message: &str) -> Self {
        let error = json!({"error": {"message": message, "type": kind, "param": null, "code": code.into()}});
        Self::raw(status, error.to_string())
    }

    /// Answers with this status and an HTML page, as proxies and wrong base URLs do.
    pub fn html(status: u16) -> Self {
        let page = "<!DOCTYPE html>\n<html><head><title>Stub</title></head><body><h1>No API here</h1></body></html>\n";
        Self::bytes(status, "text/html; charset=utf-8", page.into())
    }

    /// Answers with a redirect (307) to this URL.
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

    /// Sends bytes that are not HTTP, then closes the connection.
    pub fn garbage() -> Self {
        Self::new(Content::Fault(Fault::Garbage))
    }

    fn bytes(status: u16, content_type: &'static str, body: Vec<u8>) -> Self {
        Self::new(Content::Bytes { status, content_type, body: body.into(), usage: None })
    }
}

/// Changes to a reply.
impl StubReply {
    /// Adds a header, which is sent unchanged. `content-type`, `content-length` and `x-request-id` take the place of the
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

    /// Sets the usage of a chat completion, in tokens. By default, the server counts one token for every four characters,
    /// rounded up, of the messages and of the answer.
    pub fn usage(self, prompt: u64, completion: u64) -> Self {
        self.usage_json(TokenCounts::new(prompt, completion).to_json())
    }

    /// Sets the `usage` of a chat completion to any JSON, such as details or nonsense.
    pub fn usage_json(mut self, usage: impl Into<Value>) -> Self {
        self.usage = UsageRule::Explicit(usage.into());
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

    /// Closes the connection in the middle of the body, before the announced `content-length`.
    pub fn cut_short(mut self) -> Self {
        self.cut = Some(Cut::Close);
        self
    }

    /// Resets the connection (TCP RST) in the middle of the body.
    pub fn reset_midway(mut self) -> Self {
        self.cut = Some(Cut::Reset);
        self
    }

    pub(super) fn is_fixed(&self) -> bool {
        matches!(self.content, Content::Bytes { .. } | Content::Stream(_) | Content::Fault(_))
    }
}

/// An error for a request that is the client's mistake.
pub(super) fn bad_request(status: u16, message: &str) -> StubReply {
    StubReply::error(status, "invalid_request_error", (), message)
}
