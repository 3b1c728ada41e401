//! A model that answers by a function, for tests.

use std::fmt;

use crate::{BoxFuture, ChatModel, Completion, ModelError, Request, Sink};

use super::reply::IntoReply;
use super::scripted::ScriptedModel;

/// A model that answers by a function, for tests. It records its requests.
///
/// It is for requests in no fixed order, such as those of `Run::map`, and for replies that depend
/// on the prompt. Clones share the function and the record.
///
/// ```
/// # use llmnode_model as llmnode;
/// use llmnode::{Category, FnModel, Reply};
///
/// let model = FnModel::new(|request| match request.messages.last() {
///     Some(message) if message.content.contains("Bob") => Reply::failure(Category::Refusal),
///     _ => Reply::text("Hello!"),
/// });
/// assert_eq!(model.requests().len(), 0);
/// ```
#[derive(Clone)]
pub struct FnModel(ScriptedModel);

impl FnModel {
    /// Creates a model that answers with what the function returns: a [`Reply`](crate::Reply), or
    /// anything that converts to one, such as a text. A panic of the function is
    /// the call's error.
    pub fn new<R: IntoReply>(answer: impl Fn(&Request) -> R + Send + Sync + 'static) -> Self {
        FnModel(ScriptedModel::new().otherwise(answer))
    }

    /// Sets the name of the model, for prices and spans. Default: none.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        FnModel(self.0.named(name))
    }

    /// Returns the requests so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.0.requests()
    }
}

impl ChatModel for FnModel {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        self.0.complete(request, sink)
    }

    fn model(&self) -> Option<&str> {
        self.0.model()
    }
}

impl fmt::Debug for FnModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FnModel {{ requests: {} }}", self.requests().len())
    }
}
