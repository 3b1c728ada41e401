//! What every handle of a model with one API does.
//!
//! A macro, because the handles are types of their own in the public interface
//! (`Anthropic`, `Gemini`), and the trait's functions are the same line for each.
//! `OpenAi` is not made by it: it has two APIs and decides between them.

macro_rules! chat_model {
    ($handle:ident) => {
        impl $handle {
            pub(crate) fn of_settings(
                settings: crate::api::settings::ClientSettings,
            ) -> Result<Self, llmnode_model::ModelError> {
                Ok($handle(std::sync::Arc::new(settings.build()?)))
            }
        }

        impl llmnode_model::ChatModel for $handle {
            fn complete<'a>(
                &'a self,
                request: &'a llmnode_model::Request,
                sink: &'a mut dyn llmnode_model::Sink,
            ) -> llmnode_model::BoxFuture<
                'a,
                Result<llmnode_model::Completion, llmnode_model::ModelError>,
            > {
                let context = crate::api::prepared_request::RequestContext::of(request);
                Box::pin(self.0.complete(request, context, sink))
            }

            fn model(&self) -> Option<&str> {
                self.0.model.as_deref()
            }

            fn provider(&self) -> &str {
                self.0.wire.provider
            }

            fn unenforced(&self, request: &llmnode_model::Request) {
                self.0.unenforced(request);
            }

            fn calls_in_text(&self, request: &llmnode_model::Request) -> bool {
                self.0.calls_in_text(request)
            }

            fn api_kind(&self) -> Option<llmnode_model::ApiKind> {
                Some(self.0.wire.name)
            }

            fn max_tokens(&self, request: &llmnode_model::Request) -> Option<u32> {
                self.0.max_tokens(request)
            }

            fn has_default_limit(&self, request: &llmnode_model::Request) -> bool {
                self.0.has_default_limit(request)
            }

            fn shares_beginning(&self, request: &llmnode_model::Request) -> bool {
                self.0.shares_beginning(request)
            }

            fn searches_tools(&self, request: &llmnode_model::Request) -> bool {
                self.0.searches_tools(request)
            }

            fn window(&self, request: &llmnode_model::Request) -> Option<u64> {
                self.0.window(request)
            }

            fn learn_window(&self, request: &llmnode_model::Request, tokens: u64) {
                self.0.learn_window(request, tokens);
            }

            fn retry_budget(&self) -> Option<&llmnode_model::RetryBudget> {
                Some(&self.0.retry_budget)
            }

            fn gates(&self) -> Option<&llmnode_model::gate::Gates> {
                Some(&self.0.gates)
            }

            fn server(&self) -> Option<(&str, u16)> {
                self.0.service.endpoint.server()
            }

            #[cfg(feature = "batch")]
            fn batch_api(&self) -> Option<std::sync::Arc<dyn llmnode_model::batch::BatchWire>> {
                batch::batch_api(&self.0)
            }
        }

        impl std::fmt::Debug for $handle {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($handle))
                    .field("endpoint", &self.0.service.endpoint.shown)
                    .field("model", &self.0.model)
                    .finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use chat_model;
