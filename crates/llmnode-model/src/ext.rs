//! What a provider of another crate can take and give beyond text, calls and usage.
//!
//! Not needed to call models, nor for a [`ChatModel`](crate::ChatModel) that
//! answers with a text. It changes more often than the rest of the crate, along
//! with what providers offer. The same traits and types serve `llmnode-http`.
//!
//! | a provider that | takes or gives |
//! |---|---|
//! | puts signed thoughts beside an answer, and wants them back | [`ProviderState::new`](crate::ProviderState::new) with a [`CarriedPart`] for each, read again by [`parts_for`](crate::ProviderState::parts_for) |
//! | must be sent a limit, or raises one | [`Completion::limit`](crate::Completion::limit), an [`AnswerLimit`] with its [`LimitSetter`] |
//! | keeps the beginning of prompts | [`Request::cache`](crate::Request::cache), a [`CachePlan`]; [`Sink::prompt`](crate::Sink::prompt) with [`PromptParts`] |
//! | shares an endpoint and a key with others | [`ChatModel::gates`](crate::ChatModel::gates), of the module [`gate`](crate::gate) |
//! | says how large its window is when it refuses | [`window_in`], and [`ChatModel::learn_window`](crate::ChatModel::learn_window) |
//! | searches tools itself | [`ChatModel::searches_tools`](crate::ChatModel::searches_tools), [`FoundTools`] |
//! | answers a batch of requests later, for less | [`ChatModel::batch_api`](crate::ChatModel::batch_api), of the module [`batch`](crate::batch) |
//! | must not show keys in its errors or files | [`Secret`], [`redact`], [`Redactor`] |
//! | ends a stream in which nothing but white space comes | [`padding`] |
//!
//! A provider whose key must not be in its errors, and that gives back a thought as it came:
//!
//! ```
//! # use llmnode_model as llmnode;
//! use llmnode::ext::{CarriedPart, Json, Secret, redact};
//! use llmnode::{Category, ModelError, ProviderState};
//!
//! let key = Secret::new("sk-0123456789".to_owned());
//! let error = ModelError::new(Category::ApiKeyError, redact("no such key: sk-0123456789", &[key]));
//! assert!(!error.to_string().contains("0123456789"));
//!
//! let thought = Json::of(&serde_json::json!({"type": "thinking", "signature": "c2ln"})).unwrap();
//! let state = ProviderState::new("acme", "acme-1", vec![CarriedPart::Other(thought)]);
//! assert_eq!(state.parts_for("acme", "acme-1").unwrap().len(), 1);
//! assert!(state.parts_for("acme", "acme-2").is_none(), "another model cannot read it");
//! ```

pub use crate::answer_limit::{AnswerLimit, LimitSetter};
pub use crate::cache::{CachePlan, Repeats};
pub use crate::credential::{Secret, is_credential, is_credential_value, redact, redact_secrets};
pub use crate::prompt_parts::{PromptChange, PromptFrame, PromptParts, SentPrompt, ToolPart};
pub use crate::provider_state::{CarriedPart, Json};
pub use crate::redactor::Redactor;
pub use crate::retry_budget::BudgetedRetries;
pub use crate::testing::guard::check as check_request;
pub use crate::text::{PADDING, is_document, padding};
pub use crate::tool::{CALL_TOOL, FoundTools, FoundWay, SEARCH_TOOLS};
pub use crate::window::window_in;
