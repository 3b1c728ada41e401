//! A model that answers by a script, for tests.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::chat_model::{ChatModel, Sink};
use super::completion::{Completion, FinishReason};
use super::error::ModelError;
use super::request::Request;
use crate::BoxFuture;
use crate::category::Category;
use crate::ledger::TokenUsage;

/// One scripted reply.
#[derive(Debug)]
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
    /// The model writes this text, and uses one token for each four characters.
    pub fn text(text: impl Into<String>) -> Self {
        let mut completion = Completion::new(text);
        let output = completion.text.chars().count().div_ceil(4) as u64;
        completion.usage =
            Some(TokenUsage { input: Some(10), output: Some(output), ..TokenUsage::default() });
        Reply::from(completion)
    }

    /// The request fails.
    pub fn error(error: ModelError) -> Self {
        Reply { outcome: Outcome::Error(error), delay: Duration::ZERO }
    }

    /// No answer ever comes.
    pub fn never() -> Self {
        Reply { outcome: Outcome::Never, delay: Duration::ZERO }
    }

    /// Sets why the answer ended. Of no effect on a failure.
    #[must_use]
    pub fn finish(self, finish: FinishReason) -> Self {
        self.edit(|completion| completion.finish = Some(finish))
    }

    /// Sets the usage; `None`: the provider reports none. Of no effect on a failure, which has
    /// [`ModelError::usage`].
    #[must_use]
    pub fn usage(self, usage: impl Into<Option<TokenUsage>>) -> Self {
        self.edit(|completion| completion.usage = usage.into())
    }

    /// The model declines to answer.
    #[must_use]
    pub fn refusal(self, refusal: impl Into<String>) -> Self {
        self.edit(|completion| completion.refusal = Some(refusal.into()))
    }

    /// The reply comes after a while, by tokio's clock.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
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
        Reply { outcome: Outcome::Answer(completion), delay: Duration::ZERO }
    }
}

impl From<&str> for Reply {
    fn from(text: &str) -> Self {
        Reply::text(text)
    }
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Reply::text(text)
    }
}

impl From<ModelError> for Reply {
    fn from(error: ModelError) -> Self {
        Reply::error(error)
    }
}

/// A model that gives scripted replies in order, and remembers what it was asked.
///
/// It runs the whole path of a real model: reading, validation, feedback, accounting. When the script has
/// ended, every further request is a `config_error` that says so. Clones share script and memory.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::ScriptedModel;
///
/// let model = ScriptedModel::new().reply("not JSON").reply(r#"{"item": "key"}"#);
/// assert_eq!(model.requests().len(), 0);
/// ```
#[derive(Clone, Default)]
pub struct ScriptedModel(Arc<Mutex<Script>>);

#[derive(Default)]
struct Script {
    replies: VecDeque<Reply>,
    requests: Vec<Request>,
}

impl ScriptedModel {
    /// A model without replies.
    pub fn new() -> Self {
        ScriptedModel::default()
    }

    /// Adds a reply.
    #[must_use]
    pub fn reply(self, reply: impl Into<Reply>) -> Self {
        self.lock().replies.push_back(reply.into());
        self
    }

    /// The requests so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.lock().requests.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Script> {
        // Nothing panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatModel for ScriptedModel {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        let reply = {
            let mut script = self.lock();
            script.requests.push(request.clone());
            script.replies.pop_front().unwrap_or_else(|| {
                let asked = script.requests.len();
                let fault =
                    format!("the script has ended: request {asked} has no reply; add one with `reply(..)`");
                Reply::error(ModelError::unsent(Category::ConfigError, fault))
            })
        };
        Box::pin(async move {
            if reply.delay > Duration::ZERO {
                tokio::time::sleep(reply.delay).await;
            }
            match reply.outcome {
                Outcome::Answer(completion) => Ok(completion),
                Outcome::Error(error) => Err(error),
                Outcome::Never => std::future::pending().await,
            }
        })
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let script = self.lock();
        write!(
            f,
            "ScriptedModel {{ replies: {}, requests: {} }}",
            script.replies.len(),
            script.requests.len()
        )
    }
}
