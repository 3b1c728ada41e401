// Cause: a model of one's own has an `async fn`.
// Mend: write `fn complete<'a>(&'a self, ..) -> BoxFuture<'a, Result<Completion, ModelError>>`, whose body is `Box::pin(async move { .. })`.
// Token: async
// Token: Result
use llmnode::prelude::*;
use llmnode::{Completion, ModelError, Request, Sink};

struct Echo;

impl ChatModel for Echo {
    async fn complete(&self, request: &Request, _: &mut dyn Sink) -> Result<Completion, ModelError> {
        Ok(Completion::new(&*request.messages[0].content))
    }
}

fn main() {
    let _ = Run::new(Echo);
}
