//! The trait that models implement.

use std::sync::Arc;

use super::batch::BatchWire;
use super::completion::Completion;
use super::error::ModelError;
use super::gate::Gates;
use super::request::Request;
use super::retry_budget::{BudgetedRetries, RetryBudget};
use super::sink::Sink;
use crate::BoxFuture;
use crate::api_kind::ApiKind;

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
    fn unenforced(&self, request: &Request) {
        let _ = request;
    }

    /// Whether a text of the model may be a call of a tool that its server did not recognise. Default: it may.
    fn calls_in_text(&self, request: &Request) -> bool {
        let _ = request;
        true
    }

    /// The API that it speaks. Default: unknown.
    fn api_kind(&self) -> Option<ApiKind> {
        None
    }

    /// The most tokens of an answer that this request is sent with. Default: what it says.
    fn max_tokens(&self, request: &Request) -> Option<u32> {
        request.max_tokens
    }

    /// Whether nobody set that number: the API has to be sent one, and most answers are much shorter.
    fn has_default_limit(&self, request: &Request) -> bool {
        let _ = request;
        false
    }

    /// Whether the provider is going to keep the part of this request that others have, too, and does not have it yet. Default:
    /// unknown, as `false`.
    fn shares_beginning(&self, request: &Request) -> bool {
        let _ = request;
        false
    }

    /// Returns the retries that all calls of the endpoint share. Default: no such limit.
    fn retry_budget(&self) -> Option<&RetryBudget> {
        None
    }

    /// What holds requests back after a rate limit, shared by all that ask by this endpoint and key. Default: nothing; then
    /// the run has gates of its own for the model.
    fn gates(&self) -> Option<&Gates> {
        None
    }

    /// Returns the host and port of the server. Default: unknown.
    fn server(&self) -> Option<(&str, u16)> {
        None
    }

    /// Whether its provider searches the tools that this request does not list. Default: no, so the program does.
    fn searches_tools(&self, request: &Request) -> bool {
        let _ = request;
        false
    }

    /// The tokens of the window of the model that this request asks, as a refusal named it. Default: unknown.
    fn window(&self, request: &Request) -> Option<u64> {
        let _ = request;
        None
    }

    /// A refusal of this request named the tokens of the window. Default: does nothing.
    fn learn_window(&self, request: &Request, tokens: u64) {
        let _ = (request, tokens);
    }

    /// The batch API of its provider. Default: it has none.
    fn batch_api(&self) -> Option<Arc<dyn BatchWire>> {
        None
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

            fn shares_beginning(&self, request: &Request) -> bool {
                (**self).shares_beginning(request)
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

            fn searches_tools(&self, request: &Request) -> bool {
                (**self).searches_tools(request)
            }

            fn window(&self, request: &Request) -> Option<u64> {
                (**self).window(request)
            }

            fn learn_window(&self, request: &Request, tokens: u64) {
                (**self).learn_window(request, tokens);
            }

            fn batch_api(&self) -> Option<Arc<dyn BatchWire>> {
                (**self).batch_api()
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
