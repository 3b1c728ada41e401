//! The replies of test models.

use std::fmt;
use std::time::Duration;

use crate::{
    Category, Completion, Delta, FinishReason, ModelError, Request, Sink, TokenUsage, ToolCall,
};
use serde::Serialize;
use serde_json::Value;

/// A reply of a [`ScriptedModel`](super::ScriptedModel) or an [`FnModel`](super::FnModel).
///
/// Texts, completions and errors convert to replies: `model.reply("Hello!")`. So
/// does any value with `Serialize`, such as one of the node's output: the model
/// writes its JSON.
///
/// A `StubReply`, the reply of a server for tests, has the same words for the same
/// things: constructors (`text`, `pieces`, `json`, `failure`, `never`,
/// `null_content`, `hang_up`, `for_request`) and changes (`and_call`, `reasoning`,
/// `finish_reason`, `without_usage`, `retry_after`, `after`, `pause`, `cut_short`).
///
/// ```
/// use std::time::Duration;
/// # use llmnode_model as llmnode;
/// use llmnode::{Category, FinishReason, Reply, ScriptedModel};
/// use serde_json::json;
///
/// let cut = Reply::text(r#"{"item": "k"#).finish(FinishReason::Length);
/// let busy = Reply::failure(Category::RateLimitError).retry_after(Duration::from_secs(20));
/// let model = ScriptedModel::new().reply(busy).reply(cut).reply(json!({"item": "key"}));
/// assert_eq!(model.remaining(), 3);
/// ```
#[derive(Debug)]
#[must_use = "a reply is given by the model it is handed to"]
pub struct Reply {
    outcome: Outcome,
    delay: Duration,
    pieces: Vec<Piece>,
    pause: Duration,
}

const NOTHING_ENDS_IT: &str = "the script's reply never comes, and on the test's clock nothing \
                               ends the wait; set a `deadline` or an `attempt_timeout`, or leave \
                               out the `TestClock`";

const NO_REQUEST: &str = "a reply that is made from the request was given no request";

/// Anything that converts to a reply.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a reply of a model",
    label = "has no `Serialize`",
    note = "put `#[llm_output]` on its definition, or derive `serde::Serialize`; a reply is a \
            text, or a value that the model writes as JSON",
    note = "if this is a future: a function that replies must not be `async`"
)]
pub trait IntoReply: Into<Reply> {}

#[diagnostic::do_not_recommend]
impl<T: Into<Reply>> IntoReply for T {}

#[derive(Debug)]
enum Piece {
    Text(String),
    Reasoning(String),
}

enum Outcome {
    Answer(Box<Completion>),
    Error(ModelError),
    Never,
    Respond(Box<dyn Fn(&Request) -> Reply + Send + Sync>),
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Answer(completion) => f.debug_tuple("Answer").field(completion).finish(),
            Outcome::Error(error) => f.debug_tuple("Error").field(error).finish(),
            Outcome::Never => f.write_str("Never"),
            Outcome::Respond(_) => f.write_str("Respond"),
        }
    }
}

impl Reply {
    /// Creates an answer with this text. It uses 10 tokens for the prompt and one
    /// for each four characters of the text.
    pub fn text(text: impl Into<String>) -> Self {
        let mut completion = Completion::new(text);
        let output = completion.text.chars().count().div_ceil(4) as u64;
        completion.usage = Some(TokenUsage::new(10, output));
        Reply::from(completion)
    }

    /// Creates an answer that is streamed in these pieces. Without a stream it is
    /// one text. Every other answer is one piece.
    ///
    /// ```
    /// # use llmnode_model as llmnode;
    /// use std::time::Duration;
    ///
    /// use llmnode::{Category, ModelError, Reply};
    ///
    /// let slow = Reply::pieces(["{\"item\":", " \"key\"}"]).pause(Duration::from_millis(50));
    /// let broken = Reply::pieces(["{\"item\":"]).breaks_off(ModelError::new(Category::Network, "connection lost"));
    /// # let _ = (slow, broken);
    /// ```
    pub fn pieces<P: Into<String>>(pieces: impl IntoIterator<Item = P>) -> Self {
        let pieces: Vec<String> = pieces.into_iter().map(P::into).collect();
        let mut reply = Reply::text(pieces.concat());
        reply.pieces = pieces.into_iter().map(Piece::Text).collect();
        reply
    }

    /// Sets a text of reasoning, which is streamed before the answer.
    pub fn reasoning(mut self, text: impl Into<String>) -> Self {
        if let (Outcome::Answer(completion), []) = (&self.outcome, &*self.pieces) {
            self.pieces.push(Piece::Text(completion.text.clone()));
        }
        self.pieces.insert(0, Piece::Reasoning(text.into()));
        self
    }

    /// Makes the reply fail with this error, after its pieces are streamed.
    pub fn breaks_off(mut self, error: ModelError) -> Self {
        self.outcome = Outcome::Error(error);
        self
    }

    /// Breaks the connection off after the pieces are streamed: a failure of the
    /// category `network`.
    pub fn cut_short(self) -> Self {
        self.breaks_off(ModelError::new(
            Category::Network,
            "the connection was closed in the middle of the answer",
        ))
    }

    /// Creates an answer without a text.
    pub fn null_content() -> Self {
        Reply::text("")
    }

    /// Creates the reply that `respond` makes from the request.
    ///
    /// ```
    /// # use llmnode_model as llmnode;
    /// use llmnode::{Reply, Request, ScriptedModel};
    ///
    /// let echo = Reply::for_request(|request: &Request| request.messages[0].content.as_str().into());
    /// let model = ScriptedModel::new().reply(echo);
    /// # let _ = model;
    /// ```
    pub fn for_request(respond: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Reply::from_outcome(Outcome::Respond(Box::new(respond)))
    }

    /// Creates an answer with this value as JSON. A value that cannot be JSON is a
    /// `config_error` of the request.
    pub fn json(value: impl Serialize) -> Self {
        match serde_json::to_string(&value) {
            Ok(text) => Reply::text(text),
            Err(error) => {
                let fault = format!("the reply cannot be written as JSON: {error}");
                Reply::error(ModelError::unsent(Category::ConfigError, fault))
            }
        }
    }

    /// Makes the model call this tool with these arguments, beside the text and the
    /// calls so far. The ids of a reply's calls are `call_1`, `call_2`, and so on.
    /// It has no effect on a failure.
    ///
    /// ```
    /// # use llmnode_model as llmnode;
    /// use llmnode::Reply;
    /// use serde_json::json;
    ///
    /// let reply = Reply::text("").call("search", json!({"word": "Rust"})).call("count", json!({}));
    /// # let _ = reply;
    /// ```
    pub fn call(self, tool: &str, arguments: impl Serialize) -> Self {
        let arguments = match serde_json::to_value(arguments) {
            Ok(Value::String(text)) => text,
            Ok(arguments) => arguments.to_string(),
            Err(error) => {
                let fault = format!("the arguments cannot be written as JSON: {error}");
                return Reply::error(ModelError::unsent(Category::ConfigError, fault));
            }
        };
        self.edit(|completion| {
            let id = format!("call_{}", completion.calls.len() + 1);
            completion.calls.push(ToolCall::new(id, tool, arguments));
        })
    }

    /// Adds a call of this tool, as [`call`](Self::call) does.
    pub fn and_call(self, tool: &str, arguments: impl Serialize) -> Self {
        self.call(tool, arguments)
    }

    /// Creates a failure of this category.
    pub fn failure(category: Category) -> Self {
        Reply::error(ModelError::new(category, "a failure of the test's script"))
    }

    /// Creates a failure with this error.
    pub fn error(error: ModelError) -> Self {
        Reply::from_outcome(Outcome::Error(error))
    }

    /// Creates a reply that never comes: a deadline or an `attempt_timeout` of the
    /// run's clock ends the wait. On a `TestClock` they pass at once; if there is
    /// none, the request is a `config_error` that says so.
    pub fn never() -> Self {
        Reply::from_outcome(Outcome::Never)
    }

    /// Creates a connection that is closed without an answer: a failure of the category `network`.
    pub fn hang_up() -> Self {
        Reply::error(ModelError::new(
            Category::Network,
            "the connection was closed without an answer",
        ))
    }

    /// Creates a reply that never comes, as [`never`](Self::never) does.
    pub fn stall() -> Self {
        Reply::never()
    }

    /// Sets why the answer ended. It has no effect on a failure.
    pub fn finish(self, finish: FinishReason) -> Self {
        self.edit(|completion| completion.finish = Some(finish))
    }

    /// Sets why the answer ended, in the words of OpenAI's API: `stop`, `length`,
    /// `content_filter`, `tool_calls`. It has no effect on a failure.
    pub fn finish_reason(self, reason: &str) -> Self {
        self.finish(match reason {
            "stop" | "tool_calls" => FinishReason::Stop,
            "length" => FinishReason::Length,
            "content_filter" => FinishReason::ContentFilter,
            other => FinishReason::Other(other.to_owned()),
        })
    }

    /// Leaves the usage out of the answer, as `usage(None)` does.
    pub fn without_usage(self) -> Self {
        self.usage(None)
    }

    /// Sets the usage. `None`: the provider reports none. It has no effect on a
    /// failure; set [`ModelError::usage`] there.
    pub fn usage(self, usage: impl Into<Option<TokenUsage>>) -> Self {
        self.edit(|completion| completion.usage = usage.into())
    }

    /// Makes the model decline to answer. It has no effect on a failure.
    pub fn refusal(self, refusal: impl Into<String>) -> Self {
        self.edit(|completion| completion.refusal = Some(refusal.into()))
    }

    /// Sets the wait that the server asks for. It has no effect on an answer.
    pub fn retry_after(mut self, wait: Duration) -> Self {
        if let Outcome::Error(error) = &mut self.outcome {
            error.retry_after = Some(wait);
        }
        self
    }

    /// Sets the wait before each further piece of a stream, by tokio's clock. Default: none.
    pub fn pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// Delays the reply, by the run's clock.
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// A reply that is made from the request, made.
    pub(super) fn for_this(self, request: &Request) -> Self {
        match self.outcome {
            Outcome::Respond(respond) => {
                let mut reply = respond(request).for_this(request);
                reply.delay += self.delay;
                reply
            }
            outcome => Reply { outcome, ..self },
        }
    }

    pub(super) async fn play(self, sink: &mut dyn Sink) -> Result<Completion, ModelError> {
        if self.delay > Duration::ZERO {
            sink.wait(Some(self.delay)).await;
        }
        if sink.listens() {
            stream_pieces(&self.pieces, self.pause, sink).await;
        }
        match self.outcome {
            Outcome::Answer(completion) => Ok(*completion),
            Outcome::Error(error) => Err(error),
            Outcome::Respond(_) => Err(ModelError::unsent(Category::ConfigError, NO_REQUEST)),
            Outcome::Never => {
                sink.wait(None).await;
                Err(ModelError::unsent(Category::ConfigError, NOTHING_ENDS_IT))
            }
        }
    }

    fn from_outcome(outcome: Outcome) -> Self {
        Reply {
            outcome,
            delay: Duration::ZERO,
            pieces: Vec::new(),
            pause: Duration::ZERO,
        }
    }

    fn edit(mut self, edit: impl FnOnce(&mut Completion)) -> Self {
        if let Outcome::Answer(completion) = &mut self.outcome {
            edit(completion);
        }
        self
    }
}

/// Yields between pieces, so that each is an event.
async fn stream_pieces(pieces: &[Piece], pause: Duration, sink: &mut dyn Sink) {
    for (at, piece) in pieces.iter().enumerate() {
        match pause {
            _ if at == 0 => {}
            Duration::ZERO => tokio::task::yield_now().await,
            pause => tokio::time::sleep(pause).await,
        }
        sink.delta(match piece {
            Piece::Text(text) => Delta::Text(text),
            Piece::Reasoning(text) => Delta::Reasoning(text),
        });
    }
}

impl From<Completion> for Reply {
    fn from(completion: Completion) -> Self {
        Reply::from_outcome(Outcome::Answer(Box::new(completion)))
    }
}

/// A text is written as it is, any other value as its JSON.
impl<T: Serialize> From<T> for Reply {
    fn from(value: T) -> Self {
        match serde_json::to_value(&value) {
            Ok(Value::String(text)) => Reply::text(text),
            _ => Reply::json(value),
        }
    }
}

impl From<ModelError> for Reply {
    fn from(error: ModelError) -> Self {
        Reply::error(error)
    }
}
