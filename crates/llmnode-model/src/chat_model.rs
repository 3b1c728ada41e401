//! The trait that models implement.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use llmnode_reader::Flag;

use super::completion::Completion;
use super::error::ModelError;
use super::gate::{Gates, RateLimits};
use super::request::Request;
use super::response_format::ResponseFormat;
use super::retry_budget::{BudgetedRetries, RetryBudget};
use crate::BoxFuture;
use crate::api_kind::ApiKind;
use crate::usage::TokenUsage;

/// A language model of any provider.
///
/// A call of [`complete`](ChatModel::complete) makes one request. Retries, corrections and accounting belong to the
/// attempt loop. Dropping the future cancels the request.
///
/// ```
/// # use llmnode_model as llmnode;
/// use llmnode::{BoxFuture, ChatModel, Completion, ModelError, Request, Sink};
///
/// /// Answers with the last message.
/// struct Echo;
///
/// impl ChatModel for Echo {
///     fn complete<'a>(
///         &'a self,
///         request: &'a Request,
///         _: &'a mut dyn Sink,
///     ) -> BoxFuture<'a, Result<Completion, ModelError>> {
///         Box::pin(async {
///             let last = request.messages.last().map_or("", |message| message.content.as_str());
///             Ok(Completion::new(last))
///         })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a model",
    label = "not a model",
    note = "`OpenAi`, `ScriptedModel` and an `Arc<dyn ChatModel>` are models; the name of a model goes into `model = \"…\"` of the node, or `.model(\"…\")` of the call",
    note = "what may fail ends with `?`: `OpenAi::from_env()?`, `OpenAi::builder().model(\"…\").build()?`"
)]
pub trait ChatModel: Send + Sync {
    /// Makes one request and reads its response.
    ///
    /// What is known before the end goes to `sink` at once, so that it is not lost if the call is dropped.
    ///
    /// # Errors
    /// A [`ModelError`] with a category. See [`ModelError::unsent`] for errors that prevent the request.
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>>;

    /// Returns the id of the model for requests that name none. Default: unknown.
    fn model(&self) -> Option<&str> {
        None
    }

    /// Returns the provider as in OpenTelemetry's `gen_ai.provider.name`, such as `"openai"`. Default: `"custom"`.
    fn provider(&self) -> &str {
        "custom"
    }

    /// Reports that a complete answer to this request was not JSON of its schema. Default: does nothing.
    #[doc(hidden)]
    fn unenforced(&self, request: &Request) {
        let _ = request;
    }

    /// Whether a text of the model may be a call of a tool that its server did not recognise. Default: it may.
    #[doc(hidden)]
    fn calls_in_text(&self, request: &Request) -> bool {
        let _ = request;
        true
    }

    /// The API that it speaks. Default: unknown.
    #[doc(hidden)]
    fn api_kind(&self) -> Option<ApiKind> {
        None
    }

    /// The most tokens of an answer that this request is sent with. Default: what it says.
    #[doc(hidden)]
    fn max_tokens(&self, request: &Request) -> Option<u32> {
        request.max_tokens
    }

    /// Whether nobody set that number: the API has to be sent one, and most answers are much shorter.
    #[doc(hidden)]
    fn has_default_limit(&self, request: &Request) -> bool {
        let _ = request;
        false
    }

    /// Returns the retries that all calls of the endpoint share. Default: no such limit.
    fn retry_budget(&self) -> Option<&RetryBudget> {
        None
    }

    /// What holds requests back after a rate limit, shared by all that ask by this endpoint and key. Default: nothing; then
    /// the run has gates of its own for the model.
    #[doc(hidden)]
    fn gates(&self) -> Option<&Gates> {
        None
    }

    /// Returns the host and port of the server. Default: unknown.
    fn server(&self) -> Option<(&str, u16)> {
        None
    }
}

/// Receives what is known of an attempt before it has ended.
pub trait Sink: Send {
    /// The provider's id of the request.
    fn request_id(&mut self, id: &str);

    /// The usage so far. The last one counts.
    fn usage(&mut self, usage: TokenUsage);

    /// How the model is asked for the type of the answer. Default: does nothing.
    fn response_format(&mut self, response_format: ResponseFormat) {
        let _ = response_format;
    }

    /// The API by which the model is asked. Default: does nothing.
    fn api(&mut self, api: ApiKind) {
        let _ = api;
    }

    /// A part of the request that is not sent, because the model is known to refuse it: see
    /// `AttemptRecord::refused`. Default: does nothing.
    fn refused(&mut self, part: &str) {
        let _ = part;
    }

    /// Nothing of the request was sent, and it is given up. A model also calls this when it is dropped before it has a
    /// connection. Default: does nothing.
    fn unsent(&mut self) {}

    /// A flag of the response. Default: does nothing.
    fn flag(&mut self, flag: Flag) {
        let _ = flag;
    }

    /// Whether somebody asks for what the answer says of rate limits. Default: `false`.
    #[doc(hidden)]
    fn wants_rate_limits(&self) -> bool {
        false
    }

    /// What the answer says of rate limits. Default: does nothing.
    #[doc(hidden)]
    fn rate_limits(&mut self, limits: RateLimits) {
        let _ = limits;
    }

    /// Whether somebody reads the answer while it is written. If so, the model asks for a stream and passes its
    /// pieces to [`delta`](Sink::delta). Default: `false`.
    fn listens(&self) -> bool {
        false
    }

    /// The next piece of the answer. The pieces of text make up [`Completion::text`]. Default: does nothing.
    fn delta(&mut self, delta: Delta<'_>) {
        let _ = delta;
    }

    /// Waits by the clock of the run that asks: models for tests are as slow as a test says. `None`: for ever; it ends where the
    /// clock knows that nothing will end the wait. Default: tokio's clock.
    #[doc(hidden)]
    fn wait(&self, time: Option<Duration>) -> BoxFuture<'_, ()> {
        match time {
            Some(time) => Box::pin(tokio::time::sleep(time)),
            None => Box::pin(std::future::pending()),
        }
    }
}

/// A piece of an answer that is being written.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta<'a> {
    /// Text of the answer.
    Text(&'a str),
    /// Text of the model's reasoning, which is not part of the answer.
    Reasoning(&'a str),
}

impl<'a> Delta<'a> {
    /// Returns the piece, of whatever kind.
    pub fn text(&self) -> &'a str {
        match self {
            Delta::Text(text) | Delta::Reasoning(text) => text,
        }
    }
}

impl fmt::Debug for Delta<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Delta::Text(_) => "Text",
            Delta::Reasoning(_) => "Reasoning",
        };
        write!(f, "{kind}({} bytes)", self.text().len())
    }
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<M: ChatModel + ?Sized> ChatModel for $pointer {
            fn complete<'a>(
                &'a self,
                request: &'a Request,
                sink: &'a mut dyn Sink,
            ) -> BoxFuture<'a, Result<Completion, ModelError>> {
                (**self).complete(request, sink)
            }

            fn model(&self) -> Option<&str> {
                (**self).model()
            }

            fn provider(&self) -> &str {
                (**self).provider()
            }

            fn unenforced(&self, request: &Request) {
                (**self).unenforced(request);
            }

            fn calls_in_text(&self, request: &Request) -> bool {
                (**self).calls_in_text(request)
            }

            fn api_kind(&self) -> Option<ApiKind> {
                (**self).api_kind()
            }

            fn max_tokens(&self, request: &Request) -> Option<u32> {
                (**self).max_tokens(request)
            }

            fn has_default_limit(&self, request: &Request) -> bool {
                (**self).has_default_limit(request)
            }

            fn retry_budget(&self) -> Option<&RetryBudget> {
                (**self).retry_budget()
            }

            fn gates(&self) -> Option<&Gates> {
                (**self).gates()
            }

            fn server(&self) -> Option<(&str, u16)> {
                (**self).server()
            }
        }
    )*};
}
forward!(Arc<M>, Box<M>);

impl<'m> BudgetedRetries<'m> {
    /// Those of a model.
    pub fn of(model: &'m dyn ChatModel) -> Self {
        BudgetedRetries::of_budget(model.retry_budget())
    }
}
