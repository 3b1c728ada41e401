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
/// A call of [`complete`](ChatModel::complete) makes one request. Retries,
/// corrections and accounting belong to the attempt loop. Dropping the future
/// cancels the request.
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
    note = "`OpenAi`, `ScriptedModel` and an `Arc<dyn ChatModel>` are models; the name of a model \
            goes into `model = \"…\"` of the node, or `.model(\"…\")` of the call",
    note = "what may fail ends with `?`: `OpenAi::from_env()?`, \
            `OpenAi::builder().model(\"…\").build()?`"
)]
pub trait ChatModel: Send + Sync {
    /// Makes one request and reads its response.
    ///
    /// What is known before the end goes to `sink` at once, so that it is not lost
    /// if the call is dropped.
    ///
    /// # Errors
    /// A [`ModelError`] with a category. See [`ModelError::unsent`] for errors that
    /// prevent the request.
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>>;

    /// Returns the model that this one passes its requests on to. Default: none.
    ///
    /// A wrapper, such as one that counts requests or removes names from them, implements this and
    /// [`complete`](ChatModel::complete). Whatever else there is to know about a model is then asked of the inner one: its name, and
    /// what it has learned of its server, such as rate limits. Batch APIs are the exception: they would go past the wrapper, so a
    /// map over one is a `config_error`.
    ///
    /// ```
    /// # use llmnode_model as llmnode;
    /// use llmnode::{BoxFuture, ChatModel, Completion, ModelError, Request, Sink};
    ///
    /// /// Removes a name from what is sent.
    /// struct Discreet<M>(M);
    ///
    /// impl<M: ChatModel> ChatModel for Discreet<M> {
    ///     fn complete<'a>(
    ///         &'a self,
    ///         request: &'a Request,
    ///         sink: &'a mut dyn Sink,
    ///     ) -> BoxFuture<'a, Result<Completion, ModelError>> {
    ///         let mut request = request.clone();
    ///         for message in &mut request.messages {
    ///             message.content = message.content.replace("Ada", "N.");
    ///         }
    ///         Box::pin(async move { self.0.complete(&request, sink).await })
    ///     }
    ///
    ///     fn inner(&self) -> Option<&dyn ChatModel> {
    ///         Some(&self.0)
    ///     }
    /// }
    /// ```
    fn inner(&self) -> Option<&dyn ChatModel> {
        None
    }

    /// Returns the id of the model for requests that name none. Default: that of the inner model, or else unknown.
    fn model(&self) -> Option<&str> {
        self.inner()?.model()
    }

    /// Returns the provider as in OpenTelemetry's `gen_ai.provider.name`, such as `"openai"`. Default: that of the inner model, or
    /// else `"custom"`.
    fn provider(&self) -> &str {
        self.inner().map_or("custom", |inner| inner.provider())
    }

    /// Reports that a complete answer to this request was not JSON of its schema.
    /// Default: does nothing.
    fn unenforced(&self, request: &Request) {
        if let Some(inner) = self.inner() {
            inner.unenforced(request);
        }
    }

    /// Whether a text of the model may be a call of a tool that its server did not
    /// recognise. Default: it may.
    fn calls_in_text(&self, request: &Request) -> bool {
        self.inner()
            .is_none_or(|inner| inner.calls_in_text(request))
    }

    /// The API that it speaks. Default: unknown.
    fn api_kind(&self) -> Option<ApiKind> {
        self.inner()?.api_kind()
    }

    /// The most tokens of an answer that this request is sent with. Default: what it says.
    fn max_tokens(&self, request: &Request) -> Option<u32> {
        self.inner()
            .map_or(request.max_tokens, |inner| inner.max_tokens(request))
    }

    /// Whether nobody set that number: the API has to be sent one, and most answers
    /// are much shorter.
    fn has_default_limit(&self, request: &Request) -> bool {
        self.inner()
            .is_some_and(|inner| inner.has_default_limit(request))
    }

    /// Whether the provider is going to keep the part of this request that others
    /// have, too, and does not have it yet. Default: unknown, as `false`.
    fn shares_beginning(&self, request: &Request) -> bool {
        self.inner()
            .is_some_and(|inner| inner.shares_beginning(request))
    }

    /// Returns the retries that all calls of the endpoint share. Default: those of the inner model, or else no such limit.
    fn retry_budget(&self) -> Option<&RetryBudget> {
        self.inner()?.retry_budget()
    }

    /// What holds requests back after a rate limit, shared by all that ask by this
    /// endpoint and key. Default: nothing; then the run has gates of its own for
    /// the model.
    fn gates(&self) -> Option<&Gates> {
        self.inner()?.gates()
    }

    /// Returns the host and port of the server. Default: those of the inner model, or else unknown.
    fn server(&self) -> Option<(&str, u16)> {
        self.inner()?.server()
    }

    /// Whether its provider searches the tools that this request does not list.
    /// Default: no, so the program does.
    fn searches_tools(&self, request: &Request) -> bool {
        self.inner()
            .is_some_and(|inner| inner.searches_tools(request))
    }

    /// The tokens of the window of the model that this request asks, as a refusal
    /// named it. Default: unknown.
    fn window(&self, request: &Request) -> Option<u64> {
        self.inner()?.window(request)
    }

    /// A refusal of this request named the tokens of the window. Default: does nothing.
    fn learn_window(&self, request: &Request, tokens: u64) {
        if let Some(inner) = self.inner() {
            inner.learn_window(request, tokens);
        }
    }

    /// The batch API of its provider. Default: it has none, also with an inner model: what a wrapper changes in a request would not
    /// be changed in a batch.
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

            fn inner(&self) -> Option<&dyn ChatModel> {
                (**self).inner()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;

    /// Says something else of itself than a model does that says nothing.
    #[derive(Default)]
    struct Told {
        budget: RetryBudget,
        gates: Gates,
        learned: std::sync::Mutex<Vec<u64>>,
    }

    impl ChatModel for Told {
        fn complete<'a>(
            &'a self,
            _: &'a Request,
            _: &'a mut dyn Sink,
        ) -> BoxFuture<'a, Result<Completion, ModelError>> {
            Box::pin(async { Ok(Completion::new("told")) })
        }

        fn model(&self) -> Option<&str> {
            Some("told")
        }

        fn provider(&self) -> &str {
            "teller"
        }

        fn unenforced(&self, request: &Request) {
            self.learn_window(request, 0);
        }

        fn calls_in_text(&self, _: &Request) -> bool {
            false
        }

        fn api_kind(&self) -> Option<ApiKind> {
            Some(ApiKind::Gemini)
        }

        fn max_tokens(&self, _: &Request) -> Option<u32> {
            Some(7)
        }

        fn has_default_limit(&self, _: &Request) -> bool {
            true
        }

        fn shares_beginning(&self, _: &Request) -> bool {
            true
        }

        fn retry_budget(&self) -> Option<&RetryBudget> {
            Some(&self.budget)
        }

        fn gates(&self) -> Option<&Gates> {
            Some(&self.gates)
        }

        fn server(&self) -> Option<(&str, u16)> {
            Some(("told", 1))
        }

        fn searches_tools(&self, _: &Request) -> bool {
            true
        }

        fn window(&self, _: &Request) -> Option<u64> {
            Some(8_192)
        }

        fn learn_window(&self, _: &Request, tokens: u64) {
            if let Ok(mut learned) = self.learned.lock() {
                learned.push(tokens);
            }
        }
    }

    /// Passes requests on.
    struct Wrapper<M>(M);

    impl<M: ChatModel> ChatModel for Wrapper<M> {
        fn complete<'a>(
            &'a self,
            request: &'a Request,
            sink: &'a mut dyn Sink,
        ) -> BoxFuture<'a, Result<Completion, ModelError>> {
            self.0.complete(request, sink)
        }

        fn inner(&self) -> Option<&dyn ChatModel> {
            Some(&self.0)
        }
    }

    #[test]
    fn what_a_wrapper_does_not_say_is_what_the_inner_model_says() {
        let model = Arc::new(Told::default());
        let wrapper = Wrapper(Wrapper(Arc::clone(&model)));
        let request = Request::new(vec![Message::user("Hello.")]);
        assert_eq!(wrapper.model(), Some("told"));
        assert_eq!(wrapper.provider(), "teller");
        assert!(!wrapper.calls_in_text(&request));
        assert_eq!(wrapper.api_kind(), Some(ApiKind::Gemini));
        assert_eq!(wrapper.max_tokens(&request), Some(7));
        assert!(wrapper.has_default_limit(&request));
        assert!(wrapper.shares_beginning(&request));
        let budget = wrapper.retry_budget();
        assert!(budget.is_some_and(|budget| std::ptr::eq(budget, &model.budget)));
        let gates = wrapper.gates();
        assert!(gates.is_some_and(|gates| std::ptr::eq(gates, &model.gates)));
        assert_eq!(wrapper.server(), Some(("told", 1)));
        assert!(wrapper.searches_tools(&request));
        assert_eq!(wrapper.window(&request), Some(8_192));
        wrapper.unenforced(&request);
        wrapper.learn_window(&request, 4_096);
        let learned = model.learned.lock().map(|learned| learned.clone());
        assert_eq!(learned.ok(), Some(vec![0, 4_096]));
        assert!(wrapper.batch_api().is_none());
    }
}
