//! A replaying engine: it starts the flow again, and answers each request as before.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llmnode_flow::flow::RunExt;
use llmnode_runtime::{BoxFuture, ChatModel, Completion, FnModel, ModelError, Request, Run, Sink};

use crate::support::{Research, STEPS, TOKENS, World, answer, undisturbed};

/// What the engine keeps of one invocation, over all its processes.
#[derive(Clone, Default)]
struct Engine(Arc<Mutex<Vec<Completion>>>);

/// A model whose requests the engine makes: each of them once.
struct Replaying<M> {
    engine: Engine,
    next: AtomicUsize,
    inner: M,
}

impl<M: ChatModel> ChatModel for Replaying<M> {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async move {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let before = self.engine.0.lock().unwrap().get(place).cloned();
            if let Some(before) = before {
                return Ok(before);
            }
            let completion = self.inner.complete(request, sink).await?;
            self.engine.0.lock().unwrap().push(completion.clone());
            Ok(completion)
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_around_the_model_is_all_that_a_replaying_engine_takes() {
    let engine = Engine::default();
    let slow = FnModel::new(|request: &Request| {
        answer(&request.messages[0].content).after(Duration::from_secs(2))
    });
    let mut killed = 0;
    let run = loop {
        let model = Replaying {
            engine: engine.clone(),
            next: AtomicUsize::new(0),
            inner: slow.clone(),
        };
        let mut run = Run::new(model).with_state(World::default());
        // Each process lives for five seconds: two requests, and half of a third.
        match tokio::time::timeout(Duration::from_secs(5), run.flow(Research).into_future()).await {
            Ok(action) => {
                action.unwrap();
                break run;
            }
            Err(_) => killed += 1,
        }
    };
    assert_eq!(*run.state(), undisturbed().await);
    assert_eq!(
        (killed, slow.requests().len() as u64),
        (5, STEPS + killed),
        "only what was under way is asked twice"
    );
    let total = run.ledger().total();
    assert_eq!((total.requests, total.total.known), (STEPS, STEPS * TOKENS));
}
