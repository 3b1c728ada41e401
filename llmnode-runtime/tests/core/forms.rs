//! The forms in which programs write calls. Most of what is tested here is that it compiles.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::support::{Choice, Choose, GOAL, GOOD, Say, say, world};
use llmnode_runtime::private::{LlmNode, OutputSpec, Prompt, Segment};
use llmnode_runtime::{
    BoxError, Call, Category, Cx, Exec, Node, NodeError, NodeFacts, Reply, Run, ScriptedModel,
};

fn hi(times: usize) -> ScriptedModel {
    (0..times).fold(ScriptedModel::new(), |model, _| model.reply("hi"))
}

#[tokio::test(start_paused = true)]
async fn tokios_macros_take_a_call_as_it_is() {
    let run = Run::new(hi(4).reply(Reply::never()));
    let (node, other) = (say("a"), say("b"));
    let (one, two) = tokio::join!(run.call(&node), run.call(&other).temperature(0.0));
    assert_eq!(
        (one.unwrap(), two.unwrap()),
        ("hi".to_owned(), "hi".to_owned())
    );
    let (one, two) = tokio::try_join!(run.call(&node), run.call(&other).report()).unwrap();
    assert_eq!(one, two.value);
    let late = tokio::select! {
        _ = run.call(&node) => false,
        () = tokio::time::sleep(Duration::from_secs(1)) => true,
    };
    assert!(late);
    assert!(
        tokio::time::timeout(Duration::from_secs(1), run.call(&node))
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn calls_reports_and_maps_are_spawned() {
    let run = Arc::new(Run::new(hi(6)).with_state(vec!["a state of one's own"]));
    let shared = Arc::clone(&run);
    let call = tokio::spawn(async move { shared.call(&say("x")).max_tokens(5).await });
    let shared = Arc::clone(&run);
    let report =
        tokio::spawn(async move { shared.call(&say("x")).report().await.map(|it| it.record) });
    let shared = Arc::clone(&run);
    let map = tokio::spawn(async move {
        let words = ["a".to_owned(), "b".to_owned()];
        shared
            .map(words.iter().map(|word| Borrowed { word }))
            .concurrency(2)
            .await
    });
    let owned = (*run).clone();
    let moved = tokio::spawn(async move { owned.map(["a", "b"].map(say)).await.len() });
    assert_eq!(call.await.unwrap().unwrap(), "hi");
    assert_eq!(report.await.unwrap().unwrap().attempts.len(), 1);
    assert!(map.await.unwrap().iter().all(Result::is_ok));
    assert_eq!(moved.await.unwrap(), 2);
}

/// A node that borrows what it asks about.
struct Borrowed<'a> {
    word: &'a str,
}

impl Node for Borrowed<'_> {
    type Output = String;
    const NAME: &'static str = "borrowed";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
}

impl<S: ?Sized + Sync> Exec<S> for Borrowed<'_> {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        llmnode_runtime::private::exec(self, cx).await
    }
}

impl<S: ?Sized + Sync> LlmNode<S> for Borrowed<'_> {
    fn render(&self, _: &S, to: &mut Prompt) {
        to.user(&[Segment::value(&self.word)]);
    }

    fn output(&self) -> OutputSpec<String, S> {
        OutputSpec::text()
    }
}

#[tokio::test]
async fn a_node_may_borrow_a_local_and_its_figures_are_one() {
    let run = Run::new(hi(2));
    for word in ["a".to_owned(), "b".to_owned()] {
        run.call(&Borrowed { word: &word }).await.unwrap();
    }
    assert_eq!(run.ledger().of::<Borrowed<'_>>().unwrap().visits, 2);
}

/// Keeps a call, for later or under way.
struct Job<'r, T> {
    call: Call<'r, T>,
}

#[tokio::test]
async fn a_call_is_stored_and_started_later() {
    let (run, node) = (Run::new(hi(1)), say("x"));
    let mut job = Job {
        call: run.call(&node),
    };
    assert_eq!(
        run.ledger().of::<Say>(),
        None,
        "not begun before it is awaited"
    );
    job.call = job.call.temperature(0.5);
    assert_eq!((&mut job.call).await.unwrap(), "hi");
    assert_eq!(run.ledger().of::<Say>().unwrap().visits, 1);
}

#[tokio::test]
async fn calls_and_reports_are_futures_that_start_when_they_are_polled() {
    let (run, node) = (
        Run::new(
            ScriptedModel::new()
                .reply("1")
                .reply("2")
                .reply(Reply::never()),
        ),
        say("x"),
    );
    let mut calls: Vec<_> = [&node, &node].map(|node| run.call(node)).into();
    let mut answers = vec![];
    for call in &mut calls {
        answers.push(call.await.unwrap());
    }
    assert_eq!(answers, ["1", "2"]);

    let mut waiting = run.call(&node);
    assert!(format!("{waiting:?}").contains("under_way: false"));
    assert!(poll_once(&mut waiting).is_pending());
    assert!(format!("{waiting:?}").contains("under_way: true"));
    let mut report = waiting.retries(7).report();
    assert!(
        poll_once(&mut report).is_pending(),
        "the same call goes on, with the settings that it began with"
    );
    assert_eq!(run.ledger().of::<Say>().unwrap().visits, 3);
    drop(report);
    assert_eq!(
        run.ledger().calls().last().unwrap().category,
        Some(Category::Cancelled)
    );
}

fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

async fn twice<S: Sync, N: Exec<S>>(run: &Run<S>, node: &N) -> Result<[N::Output; 2], NodeError> {
    Ok([run.call(node).await?, run.call(node).await?])
}

fn spawned<S, N>(run: Run<S>, node: N) -> tokio::task::JoinHandle<Result<N::Output, NodeError>>
where
    S: Send + Sync + 'static,
    N: Exec<S, Output: 'static> + Send + 'static,
{
    tokio::spawn(async move { run.call(&node).await })
}

#[tokio::test]
async fn functions_are_generic_over_state_and_node() {
    let run = Run::new(
        ScriptedModel::new()
            .reply(GOOD)
            .reply(GOOD)
            .reply(GOOD)
            .reply("hi"),
    );
    let [one, two]: [Choice; 2] = twice(&run.with_state(world()), &GOAL).await.unwrap();
    assert_eq!(one.item, two.item);
    let choice = spawned(run.with_state(world()), Choose { goal: "leave" })
        .await
        .unwrap();
    assert_eq!(choice.unwrap().item, "key");
    assert_eq!(spawned(run, say("x")).await.unwrap().unwrap(), "hi");
}

/// Hands its own call's settings on to the node that asks.
struct Through;

impl Node for Through {
    type Output = String;
    const NAME: &'static str = "through";
}

impl<S: ?Sized + Sync> Exec<S> for Through {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        Ok(cx.call(&say("x")).settings(cx.settings().clone()).await?)
    }
}

#[tokio::test]
async fn a_node_by_hand_sees_what_its_call_sets() {
    let model = ScriptedModel::new().reply("hi");
    Run::new(model.clone())
        .call(&Through)
        .temperature(0.5)
        .await
        .unwrap();
    assert_eq!(model.requests()[0].temperature, Some(0.5));
}
