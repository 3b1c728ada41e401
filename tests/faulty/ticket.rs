//! The client's id of each request: the call's number and the attempt's.

use std::cell::Cell;

use llmnode::stub_server::LoggedRequest;
use llmnode::{BoxFuture, ChatModel, Completion, ModelError, Request, Sink};

tokio::task_local! {
    /// The call under way, and how many requests it has made.
    static CALL: (u64, Cell<usize>);
}

/// Makes what `future` does the call of this number.
pub(crate) fn call_as<F: Future>(call: u64, future: F) -> impl Future<Output = F::Output> {
    CALL.scope((call, Cell::new(0)), future)
}

/// The id of a call's request, counted from 0.
pub(super) fn id(call: u64, index: usize) -> String {
    format!("{call}-{index}")
}

/// The id that a request came with.
pub(super) fn of(request: &LoggedRequest) -> String {
    let user = request.json().and_then(|body| body.get("user")?.as_str());
    user.unwrap_or_default().to_owned()
}

/// A model whose requests carry their ids.
pub(crate) struct Ticketed<M>(pub(crate) M);

impl<M: ChatModel> ChatModel for Ticketed<M> {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async move {
            let mut request = request.clone();
            let id = CALL.with(|(call, made)| id(*call, made.replace(made.get() + 1)));
            request.extra.insert("user".to_owned(), id.into());
            self.0.complete(&request, sink).await
        })
    }
}
