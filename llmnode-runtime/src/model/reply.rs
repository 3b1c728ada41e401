//! What a model of a test answers.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::completion::{Completion, FinishReason};
use super::error::ModelError;
use crate::category::Category;
use crate::usage::TokenUsage;

/// One reply of a [`ScriptedModel`](crate::ScriptedModel) or an [`FnModel`](crate::FnModel).
///
/// Texts, completions and errors are replies as they are: `model.reply("Hello!")`. So is any other value with `Serialize`, such
/// as one of the node's output: the model writes its JSON.
///
/// ```
/// use std::time::Duration;
/// # use llmnode_runtime as llmnode;
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
}

#[derive(Debug)]
enum Outcome {
    Answer(Completion),
    Error(ModelError),
    Never,
}

impl Reply {
    /// The model writes this text, and uses 10 tokens for the prompt and one for each four characters of the text.
    pub fn text(text: impl Into<String>) -> Self {
        let mut completion = Completion::new(text);
        let output = completion.text.chars().count().div_ceil(4) as u64;
        completion.usage =
            Some(TokenUsage { input: Some(10), output: Some(output), ..TokenUsage::default() });
        Reply::from(completion)
    }

    /// The model writes this value as JSON. A value that cannot be JSON is a `config_error` of the request.
    pub fn json(value: impl Serialize) -> Self {
        match serde_json::to_string(&value) {
            Ok(text) => Reply::text(text),
            Err(error) => {
                let fault = format!("the reply cannot be written as JSON: {error}");
                Reply::error(ModelError::unsent(Category::ConfigError, fault))
            }
        }
    }

    /// The request fails with this category, and is retried as that calls for.
    pub fn failure(category: Category) -> Self {
        Reply::error(ModelError::new(category, "a failure of the test's script"))
    }

    /// The request fails with this error.
    pub fn error(error: ModelError) -> Self {
        Reply::from_outcome(Outcome::Error(error))
    }

    /// No answer ever comes.
    pub fn never() -> Self {
        Reply::from_outcome(Outcome::Never)
    }

    /// Sets why the answer ended. Of no effect on a failure.
    pub fn finish(self, finish: FinishReason) -> Self {
        self.edit(|completion| completion.finish = Some(finish))
    }

    /// Sets the usage; `None`: the provider reports none. Of no effect on a failure, which has
    /// [`ModelError::usage`].
    pub fn usage(self, usage: impl Into<Option<TokenUsage>>) -> Self {
        self.edit(|completion| completion.usage = usage.into())
    }

    /// The model declines to answer. Of no effect on a failure.
    pub fn refusal(self, refusal: impl Into<String>) -> Self {
        self.edit(|completion| completion.refusal = Some(refusal.into()))
    }

    /// Sets the wait that the server asks for. Of no effect on an answer.
    pub fn retry_after(mut self, wait: Duration) -> Self {
        if let Outcome::Error(error) = &mut self.outcome {
            error.retry_after = Some(wait);
        }
        self
    }

    /// The reply comes after a while, by tokio's clock.
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    pub(super) async fn play(self) -> Result<Completion, ModelError> {
        if self.delay > Duration::ZERO {
            tokio::time::sleep(self.delay).await;
        }
        match self.outcome {
            Outcome::Answer(completion) => Ok(completion),
            Outcome::Error(error) => Err(error),
            Outcome::Never => std::future::pending().await,
        }
    }

    fn from_outcome(outcome: Outcome) -> Self {
        Reply { outcome, delay: Duration::ZERO }
    }

    fn edit(mut self, edit: impl FnOnce(&mut Completion)) -> Self {
        if let Outcome::Answer(completion) = &mut self.outcome {
            edit(completion);
        }
        self
    }
}

impl From<Completion> for Reply {
    fn from(completion: Completion) -> Self {
        Reply::from_outcome(Outcome::Answer(completion))
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
