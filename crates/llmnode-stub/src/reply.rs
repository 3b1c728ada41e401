use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use llmnode_model::{Category, FinishReason};
use serde_json::Value;

use super::billing::BilledPrompt;
use super::counts::TokenCounts;
use super::log::LoggedRequest;
use super::rules::Refusal;

/// One answer of a [`StubServer`](super::StubServer): what to send, when, and what to break on the way.
///
/// Constructors say what the answer is; methods add headers, delays and faults. A `Reply`, that of a scripted model, has the same
/// words for the same things; what only HTTP has (bytes, headers, redirects) is here alone.
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
    pub(super) reasoning: Option<String>,
    /// Ids of calls are nine letters and digits.
    pub(super) short_ids: bool,
    /// The rule that refused the request.
    pub(super) refused_by: Option<&'static str>,
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
    /// An answer without any choice.
    NoChoices,
    /// Bytes of its text.
    Filler(u64),
    Bytes {
        status: u16,
        content_type: &'static str,
        body: Arc<[u8]>,
        usage: Option<TokenCounts>,
    },
    /// In the form of the API that is asked.
    Error {
        status: u16,
        kind: String,
        code: Value,
        message: String,
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
    Counts(TokenCounts),
    Explicit(Value),
    /// By the rules of a provider's cache.
    Billed(BilledPrompt),
    Omitted,
}

#[derive(Clone)]
pub(super) struct Responder(pub(super) Arc<dyn Fn(&LoggedRequest) -> StubReply + Send + Sync>);

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Responder")
    }
}

/// Answers of a model. Each has the form of the API that is asked.
impl StubReply {
    pub(super) fn new(content: Content) -> Self {
        Self {
            content,
            headers: Vec::new(),
            finish_reason: None,
            reasoning: None,
            short_ids: false,
            refused_by: None,
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
    /// The schema is that of `response_format` (in other APIs `text.format`, `output_config.format`, `responseJsonSchema`), or
    /// the parameters of the function that the model is forced to call (the answer is then a call of it), or what a system
    /// message ends with: a form of llmnode's, or a JSON Schema.
    ///
    /// The value is `const`, the first of `enum`, or `default`; otherwise one of the first type: the required members,
    /// `minItems` items, `false`, the lowest number that is allowed (0 if none is the lowest), or `"text"` in a length that
    /// is allowed. `$ref` within the schema is followed, and of `anyOf` and `oneOf` the first branch counts that has a
    /// value. The value depends only on the schema.
    ///
    /// What this cannot fulfil, such as `pattern`, the `format` of a string, `allOf`, or a type that requires itself, is an
    /// error (status 400) that names it: script a reply instead.
    ///
    /// An answer longer than the request's limit, at four characters a token, is cut off
    /// there, with the finish reason `length`. This is the reply to requests without a scripted one.
    pub fn from_schema() -> Self {
        Self::new(Content::FromSchema)
    }

    /// Answers with this text, and the finish reason `stop`.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Content::Message {
            content: Some(text.into()),
            refusal: None,
        })
    }

    /// Answers with this text in pieces. A request for a stream gets each piece as one event, any other request gets all of
    /// them together. All other texts are streamed in pieces of four characters.
    ///
    /// A request with `"stream": true`, or for Gemini's `streamGenerateContent`, gets a stream of every answer. In chat
    /// completions the last event has the usage if `stream_options` asks for it. [`pause`](Self::pause) slows it down; [`cut_short`](Self::cut_short) and
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

    /// Answers with a call of this function, with these arguments and without a text. The finish reason is `tool_calls`.
    pub fn call(name: impl Into<String>, arguments: impl Into<Value>) -> Self {
        Self::new(Content::Calls {
            content: None,
            calls: Vec::new(),
        })
        .and_call(name, arguments)
    }

    /// Adds a call of this function with these arguments to a text or to other calls, with the ids `call_1`, `call_2`, and so
    /// on (ids that no other answer has, in APIs that refuse the same id twice). If the arguments are a text, it is sent unchanged.
    pub fn and_call(mut self, name: impl Into<String>, arguments: impl Into<Value>) -> Self {
        let arguments = match arguments.into() {
            Value::String(text) => text,
            value => value.to_string(),
        };
        if let Content::Message { content, .. } = &mut self.content {
            // No server sends an empty text beside calls.
            let content = content.take().filter(|content| !content.is_empty());
            self.content = Content::Calls {
                content,
                calls: Vec::new(),
            };
        }
        if let Content::Calls { calls, .. } = &mut self.content {
            calls.push((name.into(), arguments));
        }
        self
    }

    /// Answers with a refusal: this text in `refusal`, and `null` as the content.
    pub fn refusal(text: impl Into<String>) -> Self {
        Self::new(Content::Message {
            content: None,
            refusal: Some(text.into()),
        })
    }

    /// Answers with a message whose content is `null`, without a refusal.
    pub fn null_content() -> Self {
        Self::new(Content::Message {
            content: None,
            refusal: None,
        })
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
    pub fn for_request(
        respond: impl Fn(&LoggedRequest) -> StubReply + Send + Sync + 'static,
    ) -> Self {
        Self::new(Content::Respond(Responder(Arc::new(respond))))
    }
}

/// Answers that are none of a model's.
impl StubReply {
    /// Answers with this status and these bytes, as `application/json` unless [`header`](Self::header) says otherwise.
    pub fn raw(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::bytes(status, "application/json", body.into())
    }

    /// Answers with an error in the form of the API that is asked. OpenAI's is `{"error": {"message", "type", "param": null,
    /// "code"}}`; Anthropic's and Google's have a word for the status in place of `kind` and `code`.
    ///
    /// `code` is a string with OpenAI, an integer with some other servers, and may be `()` for `null`.
    pub fn error(status: u16, kind: &str, code: impl Into<Value>, message: &str) -> Self {
        let kind = kind.to_owned();
        let message = message.to_owned();
        Self::new(Content::Error {
            status,
            kind,
            code: code.into(),
            message,
        })
    }

    /// Fails so that a client of llmnode reads this category, on each API: with the status that says so, or with an answer that ended
    /// so. Where an API has one word for refusals and filters, a `refusal` is read as `content_filter`. Categories that no server causes,
    /// such as `limit_exceeded`, are a status 400 that says so.
    ///
    /// ```
    /// # mod llmnode { pub use llmnode_stub as stub_server; pub use llmnode_model::Category; }
    /// use llmnode::Category;
    /// use llmnode::stub_server::StubReply;
    ///
    /// let busy = StubReply::failure(Category::RateLimitError).retry_after(2);
    /// # let _ = busy;
    /// ```
    pub fn failure(category: Category) -> Self {
        const SAID: &str = "a failure of the test's script";
        match category {
            Category::RateLimitError => Self::error(429, "requests", "rate_limit_exceeded", SAID),
            Category::ServerError => Self::error(500, "server_error", (), SAID),
            Category::Network => Self::hang_up(),
            Category::Timeout => Self::error(408, "timeout", (), SAID),
            Category::ApiKeyError => {
                Self::error(401, "invalid_request_error", "invalid_api_key", SAID)
            }
            Category::QuotaError => Self::error(402, "billing_error", "insufficient_quota", SAID),
            Category::NotFound => {
                Self::error(404, "invalid_request_error", "model_not_found", SAID)
            }
            Category::BadRequest => Self::error(400, "invalid_request_error", (), SAID),
            Category::ContextLengthError => Self::error(
                413,
                "invalid_request_error",
                "context_length_exceeded",
                SAID,
            ),
            Category::ContentFilter => Self::text(SAID).finish_reason("content_filter"),
            Category::Refusal => Self::refusal(SAID),
            Category::TruncatedOutput => Self::null_content().finish_reason("length"),
            Category::BadResponse => Self::html(200),
            Category::EmptyResponse => Self::null_content(),
            Category::SchemaError => Self::text(SAID),
            other => bad_request(400, &format!("no server causes the category `{other}`")),
        }
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

    /// Never answers, as [`stall`](Self::stall) does.
    pub fn never() -> Self {
        Self::stall()
    }

    /// Sends bytes that are not HTTP, then closes the connection.
    pub fn garbage() -> Self {
        Self::new(Content::Fault(Fault::Garbage))
    }

    fn bytes(status: u16, content_type: &'static str, body: Vec<u8>) -> Self {
        Self::new(Content::Bytes {
            status,
            content_type,
            body: body.into(),
            usage: None,
        })
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

    /// Adds a `retry-after` header: a `Duration`, a number of seconds, or an HTTP date.
    pub fn retry_after(self, when: impl RetryAfter) -> Self {
        self.header("retry-after", when.header())
    }

    /// Adds what the model thought, in the form of the API that is asked: `reasoning_content` of chat completions, an item
    /// with encrypted content of Responses, a block with a signature of Anthropic's, a part with a signature of Gemini's.
    /// Signatures are bound to what stands before them in the conversation.
    pub fn reasoning(mut self, text: impl Into<String>) -> Self {
        self.reasoning = Some(text.into());
        self
    }

    /// Sets why the answer ended. `stop`, `length`, `tool_calls` and `content_filter` are sent in the words of the API that is
    /// asked, all others as they are.
    pub fn finish_reason(mut self, reason: impl Into<String>) -> Self {
        self.finish_reason = Some(reason.into());
        self
    }

    /// Sets why the answer ended.
    pub fn finish(self, finish: FinishReason) -> Self {
        self.finish_reason(finish.as_str())
    }

    /// Sets the usage of an answer, in tokens. By default, the server counts one token for every four characters,
    /// rounded up, of the messages and of the answer.
    pub fn usage(self, prompt: u64, completion: u64) -> Self {
        self.with_usage(UsageRule::Counts(TokenCounts::new(prompt, completion)))
    }

    /// Whether a model answers, so that its prompt is paid for.
    pub(super) fn is_answer(&self) -> bool {
        matches!(
            self.content,
            Content::Message { .. } | Content::Calls { .. } | Content::NoChoices
        )
    }

    /// Unless the reply has a usage of its own.
    pub(super) fn bill(&mut self, billed: BilledPrompt) {
        if matches!(self.usage, UsageRule::Counted) {
            self.usage = UsageRule::Billed(billed);
        }
    }

    /// Sets the report of the usage to any JSON, such as details or nonsense.
    pub fn usage_json(self, usage: impl Into<Value>) -> Self {
        self.with_usage(UsageRule::Explicit(usage.into()))
    }

    /// Leaves the usage out of the answer.
    pub fn without_usage(self) -> Self {
        self.with_usage(UsageRule::Omitted)
    }

    fn with_usage(mut self, usage: UsageRule) -> Self {
        self.usage = usage;
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
        matches!(
            self.content,
            Content::Bytes { .. } | Content::Error { .. } | Content::Stream(_) | Content::Fault(_)
        )
    }
}

/// When a client may ask again, as [`StubReply::retry_after`] takes it.
pub trait RetryAfter {
    /// The value of the header.
    fn header(&self) -> String;
}

/// In seconds, with milliseconds if there are any.
impl RetryAfter for Duration {
    fn header(&self) -> String {
        self.as_secs_f64().to_string()
    }
}

macro_rules! written {
    ($($type:ty),*) => {
        $(impl RetryAfter for $type {
            fn header(&self) -> String {
                self.to_string()
            }
        })*
    };
}

written!(u16, i32, u32, u64, f64, &str, String);

/// What a provider answers to a request that it refuses.
pub(super) fn refused(refusal: &Refusal) -> StubReply {
    let mut reply = StubReply::raw(refusal.status, refusal.body.to_string())
        .header("x-refused-by", refusal.rule);
    reply.refused_by = Some(refusal.rule);
    reply
}

/// An error for a request that is the client's mistake.
pub(super) fn bad_request(status: u16, message: &str) -> StubReply {
    StubReply::error(status, "invalid_request_error", (), message)
}
