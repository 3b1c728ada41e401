//! A model that answers by a function, for tests.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::chat_model::{ChatModel, Sink};
use super::completion::Completion;
use super::error::ModelError;
use super::reply::Reply;
use super::request::Request;
use crate::BoxFuture;

/// A model whose replies a function makes out of the requests, and that remembers what it was asked.
///
/// For tests whose requests come in no fixed order, such as those of [`Run::map`](crate::Run::map), and for
/// replies that depend on the prompt. Clones share function and memory.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Category, FnModel, Reply};
///
/// let model = FnModel::new(|request| match request.messages.last() {
///     Some(message) if message.content.contains("Bob") => Reply::failure(Category::Refusal),
///     _ => Reply::text("Hello!"),
/// });
/// assert_eq!(model.requests().len(), 0);
/// ```
#[derive(Clone)]
pub struct FnModel {
    function: Arc<dyn Fn(&Request) -> Reply + Send + Sync>,
    requests: Arc<Mutex<Vec<Request>>>,
    name: Option<String>,
}

impl FnModel {
    /// A model that answers with what the function says: a [`Reply`], or anything that is one, such as a text. A
    /// panic of the function is the call's error.
    pub fn new<R: Into<Reply>>(answer: impl Fn(&Request) -> R + Send + Sync + 'static) -> Self {
        FnModel {
            function: Arc::new(move |request| answer(request).into()),
            requests: Arc::default(),
            name: None,
        }
    }

    /// Names the model that answers where a request names none: prices and spans go by it. Default: it has no name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The requests so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.lock().clone()
    }

    /// What the function says to this request, which is not remembered.
    pub(super) fn answer(&self, request: &Request) -> Reply {
        (self.function)(request)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Request>> {
        // Nothing panics while it holds the lock.
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatModel for FnModel {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        self.lock().push(request.clone());
        Box::pin(async move { self.answer(request).play().await })
    }

    fn model(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

impl fmt::Debug for FnModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FnModel {{ requests: {} }}", self.lock().len())
    }
}
