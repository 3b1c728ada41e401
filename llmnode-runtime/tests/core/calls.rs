//! The forms of a call: spawned, nested, recursive, mapped.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{GOAL, GOOD, Say, say, world};
use llmnode_runtime::{
    BoxFuture, Category, ChatModel, Completion, Cx, Exec, ModelError, Node, NodeError, Request, Run,
    ScriptedModel, Sink,
};

#[tokio::test]
async fn a_stateless_node_runs_on_any_run_and_calls_can_be_spawned() {
    let run = Arc::new(Run::new(ScriptedModel::new().reply("hi").reply(GOOD)).with_state(world()));
    assert_eq!(run.call(&say("x")).await.unwrap(), "hi");
    let spawned = tokio::spawn({
        let run = Arc::clone(&run);
        async move { run.call(&GOAL).await }
    });
    assert_eq!(spawned.await.unwrap().unwrap().item, "key");
}

/// Calls itself until it is at the bottom.
struct Countdown(u32);

impl Node for Countdown {
    type Output = u32;
    const NAME: &'static str = "countdown";
}

impl<S: ?Sized + Sync> Exec<S> for Countdown {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<u32, NodeError> {
        match self.0 {
            0 => Err(NodeError::new(Category::PrepError, "no fuel")),
            1 => Ok(1),
            n => Ok(cx.call(&Countdown(n - 1)).await? + 1),
        }
    }
}

#[tokio::test]
async fn nodes_call_themselves_and_errors_keep_the_call_they_came_from() {
    let run = Run::new(ScriptedModel::new());
    assert_eq!(run.call(&Countdown(50)).await.unwrap(), 50);
    assert_eq!(run.ledger().of::<Countdown>().unwrap().visits, 50);
    let error = run.call(&Countdown(0)).await.unwrap_err();
    assert_eq!(error.to_string(), "countdown: prep_error: no fuel");
}

/// Answers after a while, the later asked the sooner, and counts who is under way.
#[derive(Default)]
struct Crowd {
    inside: AtomicUsize,
    most: AtomicUsize,
}

impl ChatModel for Crowd {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async move {
            let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(inside, Ordering::SeqCst);
            let said = request.messages[0].content.clone();
            let number: u64 = said.parse().unwrap();
            tokio::time::sleep(Duration::from_millis(1000 - number)).await;
            self.inside.fetch_sub(1, Ordering::SeqCst);
            if number % 10 == 3 {
                return Err(ModelError::new(Category::BadRequest, "a three"));
            }
            Ok(Completion::new(said))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_map_keeps_order_and_bound_and_failures_to_themselves() {
    let crowd = Arc::new(Crowd::default());
    let run = Run::new(Arc::clone(&crowd));
    let results = run.map((0..100).map(|n| say(&n.to_string()))).concurrency(7).await;
    assert_eq!((results.len(), crowd.most.load(Ordering::SeqCst)), (100, 7));
    for (number, result) in results.iter().enumerate() {
        match result {
            Ok(said) => assert_eq!(said, &number.to_string()),
            Err(error) => assert_eq!((number % 10, error.category()), (3, Category::BadRequest)),
        }
    }
    assert_eq!(results.iter().filter(|result| result.is_err()).count(), 10);
    assert_eq!(run.ledger().of::<Say>().unwrap().visits, 100);
}

#[tokio::test]
async fn an_empty_map_ends_at_once_and_zero_counts_as_one() {
    let run = Run::new(ScriptedModel::new().reply("hi"));
    assert!(run.map(Vec::<Say>::new()).await.is_empty());
    assert_eq!(run.map([say("x")]).concurrency(0).await.len(), 1);
}

#[tokio::test]
async fn a_reference_is_the_node_it_points_to_in_maps_and_ledgers() {
    let run = Run::new(ScriptedModel::new().reply("one").reply("two").reply(String::from("three")));
    let nodes = [say("1"), say("2")];
    let answers: Vec<_> = run.map(&nodes).concurrency(1).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(answers, ["one", "two"]);
    assert_eq!(run.call(&&nodes[0]).await.unwrap(), "three");
    assert_eq!(run.ledger().of::<Say>().unwrap().visits, 3);
    assert_eq!(run.ledger().of::<&Say>().unwrap().visits, 3);
}
