//! A model that answers by a script, for tests.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

use crate::panics::lock;
use crate::{BoxFuture, Category, ChatModel, Completion, ModelError, Request, RetryBudget, Sink};

use super::reply::{IntoReply, Reply};

/// A model with scripted replies, for tests. It records its requests.
///
/// Reading, validation, corrections and accounting work as with a real model. After
/// the end of the script, every request is a `config_error`, unless
/// [`otherwise`](Self::otherwise) answers it. Clones share the script and the
/// record.
///
/// ```
/// # use llmnode_model as llmnode;
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

type ReplyFn = dyn Fn(&Request) -> Reply + Send + Sync;

#[derive(Default)]
struct Script {
    replies: VecDeque<Reply>,
    otherwise: Option<Arc<ReplyFn>>,
    requests: Vec<Request>,
    unanswered: usize,
}

impl ScriptedModel {
    /// Creates a model without replies.
    pub fn new() -> Self {
        ScriptedModel::default()
    }

    /// Sets the name of the model, for prices and spans. Default: none.
    ///
    /// ```
    /// # use llmnode_model as llmnode;
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
    pub fn reply(self, reply: impl IntoReply) -> Self {
        lock(&self.script).replies.push_back(reply.into());
        self
    }

    /// Adds these replies, in order, as a server for tests takes them.
    ///
    /// ```
    /// # use llmnode_model as llmnode;
    /// use llmnode::{Category, Reply, ScriptedModel};
    ///
    /// let model = ScriptedModel::new().script(["the first answer", "the second"]);
    /// let model = model.script([Reply::failure(Category::Timeout), Reply::text("the third")]);
    /// assert_eq!(model.remaining(), 4);
    /// ```
    #[must_use]
    pub fn script<R: IntoReply>(self, replies: impl IntoIterator<Item = R>) -> Self {
        replies.into_iter().fold(self, ScriptedModel::reply)
    }

    /// Answers every request after the end of the script.
    ///
    /// ```
    /// # use llmnode_model as llmnode;
    /// # use llmnode::ScriptedModel;
    /// let model = ScriptedModel::new().reply("the first answer").otherwise(|_| "all the others");
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn otherwise<R: IntoReply>(
        self,
        answer: impl Fn(&Request) -> R + Send + Sync + 'static,
    ) -> Self {
        lock(&self.script).otherwise = Some(Arc::new(move |request| answer(request).into()));
        self
    }

    /// Counts retries against this budget. Default: unlimited.
    #[must_use]
    pub fn with_retry_budget(mut self, budget: RetryBudget) -> Self {
        self.retry_budget = Some(budget);
        self
    }

    /// Returns the requests so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.script).requests.clone()
    }

    /// Returns how many scripted replies are left.
    pub fn remaining(&self) -> usize {
        lock(&self.script).replies.len()
    }

    /// Asserts that every scripted reply was given, and that every request had one.
    ///
    /// # Panics
    /// If that is not so. The message has the numbers.
    #[track_caller]
    pub fn assert_done(&self) {
        // Released before a panic, which would poison it.
        let (left, requests, unanswered) = {
            let script = lock(&self.script);
            (
                script.replies.len(),
                script.requests.len(),
                script.unanswered,
            )
        };
        assert!(
            left == 0,
            "replies left in the script: {left}, after requests: {requests}"
        );
        assert!(
            unanswered == 0,
            "requests that found no reply in the script: {unanswered} of {requests}"
        );
    }

    fn next(&self, request: &Request) -> Reply {
        let otherwise = {
            let mut script = lock(&self.script);
            script.requests.push(request.clone());
            if let Some(reply) = script.replies.pop_front() {
                drop(script);
                return reply.for_this(request);
            }
            script.unanswered += usize::from(script.otherwise.is_none());
            script.otherwise.clone()
        };
        match otherwise {
            Some(answer) => answer(request).for_this(request),
            None => {
                let fault = "the script has ended: this request has no reply; add one with \
                             `reply(..)`, or `otherwise(..)` for all further ones";
                Reply::error(ModelError::unsent(Category::ConfigError, fault))
            }
        }
    }
}

impl ChatModel for ScriptedModel {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(self.next(request).play(sink))
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
