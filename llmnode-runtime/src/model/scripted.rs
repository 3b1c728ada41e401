//! A model that answers by a script, for tests.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

use super::chat_model::{ChatModel, Sink};
use super::completion::Completion;
use super::error::ModelError;
use super::reply::Reply;
use super::request::Request;
use super::retry_budget::RetryBudget;
use crate::BoxFuture;
use crate::category::Category;
use crate::panics::lock;

/// A model that gives scripted replies in order, and remembers what it was asked.
///
/// It runs the whole path of a real model: reading, validation, feedback, accounting. When the script has
/// ended, every further request is a `config_error` that says so, unless [`otherwise`](Self::otherwise) answers
/// it. Clones share script and memory.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::ScriptedModel;
///
/// let model = ScriptedModel::new().reply("not JSON").reply(r#"{"item": "key"}"#);
/// assert_eq!(model.requests().len(), 0);
/// assert_eq!(model.remaining(), 2);
/// ```
#[derive(Clone, Default)]
pub struct ScriptedModel {
    script: Arc<Mutex<Script>>,
    name: Option<String>,
    retry_budget: Option<RetryBudget>,
}

type Answer = dyn Fn(&Request) -> Reply + Send + Sync;

#[derive(Default)]
struct Script {
    replies: VecDeque<Reply>,
    otherwise: Option<Arc<Answer>>,
    requests: Vec<Request>,
    /// How many requests found no reply.
    unanswered: usize,
}

impl ScriptedModel {
    /// A model without replies.
    pub fn new() -> Self {
        ScriptedModel::default()
    }

    /// Names the model that answers where a request names none: prices and spans go by it. Default: it has no name.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// use llmnode::{ChatModel, ScriptedModel};
    ///
    /// assert_eq!(ScriptedModel::new().named("small").model(), Some("small"));
    /// ```
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds a reply: a text, or a value that the model writes as JSON; a [`Reply`] has the rest.
    #[must_use]
    pub fn reply(self, reply: impl Into<Reply>) -> Self {
        lock(&self.script).replies.push_back(reply.into());
        self
    }

    /// Answers every request after the script's end.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// # use llmnode::ScriptedModel;
    /// let model = ScriptedModel::new().reply("the first answer").otherwise(|_| "all the others");
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn otherwise<R: Into<Reply>>(self, answer: impl Fn(&Request) -> R + Send + Sync + 'static) -> Self {
        lock(&self.script).otherwise = Some(Arc::new(move |request| answer(request).into()));
        self
    }

    /// Counts retries against this budget. Default: none bounds them.
    #[must_use]
    pub fn with_retry_budget(mut self, budget: RetryBudget) -> Self {
        self.retry_budget = Some(budget);
        self
    }

    /// The requests so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.script).requests.clone()
    }

    /// How many scripted replies have not been given yet.
    pub fn remaining(&self) -> usize {
        lock(&self.script).replies.len()
    }

    /// Asserts that every scripted reply was given, and that every request had one.
    ///
    /// # Panics
    /// If that is not so; the message has the numbers.
    #[track_caller]
    pub fn assert_done(&self) {
        // The lock is given back before a panic, which would leave it poisoned.
        let (left, asked, unanswered) = {
            let script = lock(&self.script);
            (script.replies.len(), script.requests.len(), script.unanswered)
        };
        assert!(left == 0, "replies left in the script: {left}, after requests: {asked}");
        assert!(unanswered == 0, "requests that found no reply in the script: {unanswered} of {asked}");
    }

    fn next(&self, request: &Request) -> Reply {
        let otherwise = {
            let mut script = lock(&self.script);
            script.requests.push(request.clone());
            if let Some(reply) = script.replies.pop_front() {
                return reply;
            }
            script.unanswered += usize::from(script.otherwise.is_none());
            script.otherwise.clone()
        };
        match otherwise {
            Some(answer) => answer(request),
            None => {
                let fault = "the script has ended: this request has no reply; add one with `reply(..)`, or \
                             `otherwise(..)` for all further ones";
                Reply::error(ModelError::unsent(Category::ConfigError, fault))
            }
        }
    }
}

impl ChatModel for ScriptedModel {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(self.next(request).play())
    }

    fn model(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn retry_budget(&self) -> Option<&RetryBudget> {
        self.retry_budget.as_ref()
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let script = lock(&self.script);
        write!(
            f,
            "ScriptedModel {{ replies: {}, requests: {} }}",
            script.replies.len(),
            script.requests.len()
        )
    }
}
