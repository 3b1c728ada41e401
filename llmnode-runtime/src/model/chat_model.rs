//! What a model implements.

use std::sync::Arc;

use super::completion::Completion;
use super::dialect::Dialect;
use super::error::ModelError;
use super::request::Request;
use super::retry_budget::RetryBudget;
use crate::BoxFuture;
use crate::flag::Flag;
use crate::usage::TokenUsage;

/// A language model behind some provider.
///
/// One call of [`complete`](ChatModel::complete) makes one request: retries, feedback and accounting belong to
/// the attempt loop. Dropping the future cancels the request.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a model",
    label = "not a model",
    note = "`OpenAi`, `ScriptedModel` and an `Arc<dyn ChatModel>` are models; the name of a model goes into `model = \"…\"` of the node, or `.model(\"…\")` of the call"
)]
pub trait ChatModel: Send + Sync {
    /// Makes one request and reads its response.
    ///
    /// What is known before the end goes to `sink` at once, so that a call which is dropped keeps it.
    ///
    /// # Errors
    /// A [`ModelError`] with the category of what went wrong; see [`ModelError::unsent`] for the faults that
    /// keep a request from being made.
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>>;

    /// The id of the model that is asked where a request names none, if it is known. Default: unknown.
    fn model(&self) -> Option<&str> {
        None
    }

    /// Who serves it, as OpenTelemetry's `gen_ai.provider.name` has it, such as `"openai"`. Default: `"custom"`.
    fn provider(&self) -> &str {
        "custom"
    }

    /// An answer to this request that ended by itself was not JSON of its schema. Default: nobody is interested.
    #[doc(hidden)]
    fn unenforced(&self, request: &Request) {
        let _ = request;
    }

    /// The retries that all calls of the endpoint share. Default: there is no such bound.
    fn retry_budget(&self) -> Option<&RetryBudget> {
        None
    }

    /// Host and port of the server that is asked, if it is one. Default: unknown.
    fn server(&self) -> Option<(&str, u16)> {
        None
    }
}

/// Takes what is known of an attempt before it has ended.
pub trait Sink: Send {
    /// The provider's id of the request.
    fn request_id(&mut self, id: &str);

    /// The usage so far; the last one counts.
    fn usage(&mut self, usage: TokenUsage);

    /// How the type of the answer is told. Default: nobody is interested.
    fn dialect(&mut self, dialect: Dialect) {
        let _ = dialect;
    }

    /// A part of the request that is not sent as it was asked for, because the model is known to refuse it: see
    /// [`AttemptRecord::refused`](crate::AttemptRecord::refused). Default: nobody is interested.
    fn refused(&mut self, part: &str) {
        let _ = part;
    }

    /// Something about the response that is worth knowing. Default: nobody is interested.
    fn flag(&mut self, flag: Flag) {
        let _ = flag;
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

            fn retry_budget(&self) -> Option<&RetryBudget> {
                (**self).retry_budget()
            }

            fn server(&self) -> Option<(&str, u16)> {
                (**self).server()
            }
        }
    )*};
}
forward!(Arc<M>, Box<M>);
