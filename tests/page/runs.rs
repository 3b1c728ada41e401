//! Runs to look at, each with its recording.

use std::path::Path;
use std::time::Duration;

use llmnode::flow::{EdgeTarget, Flow};
use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::{
    Approval, BoxError, Category, Cx, Exec, Limits, Node, OpenAi, Recording, Reply, ScriptedModel,
    StubServer,
};
use serde_json::json;

use super::desk::{self, Support, Ticket};

async fn desk(agent_waits: bool) -> (Run<Ticket>, StubServer) {
    let server = desk::stub(agent_waits).start().await.unwrap();
    let model = OpenAi::builder()
        .base_url(server.base_url())
        .model("stub")
        .api_key("sk-planted-key-1234")
        .build()
        .unwrap();
    (
        Run::new(model)
            .with_prices(desk::prices())
            .with_state(desk::ticket()),
        server,
    )
}

pub(crate) async fn done(recording: &Recording) -> Run<Ticket> {
    let (mut run, _server) = desk(false).await;
    run.flow(Support).record(recording).await.unwrap();
    run
}

pub(crate) async fn failed(recording: &Recording) -> Run<Ticket> {
    let (run, _server) = desk(false).await;
    let mut run = run.with_limits(Limits::new().requests(6));
    let error = run.flow(Support).record(recording).await.unwrap_err();
    assert_eq!(error.category(), Category::LimitExceeded);
    run
}

/// Sends money.
#[tool(require_approval)]
fn refund(order: String, amount: u32) -> String {
    format!("{amount} sent for {order}")
}

/// Looks a customer up.
#[tool]
fn customer(name: String) -> Result<String, BoxError> {
    Err(format!("no customer is called {name}").into())
}

/// Gives money back.
#[llm_node(prompt = "Give the money for A-1042 back.", tools = [Refund, Customer])]
pub(crate) struct GiveBack {}

pub(crate) fn refunding() -> Reply {
    Reply::text("I'll do that.")
        .call("refund", json!({"order": "A-1042", "amount": 40}))
        .call("customer", json!({"name": "Ada"}))
}

pub(crate) async fn paused(recording: &Recording) {
    let run = Run::new(ScriptedModel::new().reply(refunding()));
    let error = run.call(&GiveBack {}).record(recording).await.unwrap_err();
    assert_eq!(error.category(), Category::Paused);
}

/// The same, decided: the arguments are edited.
pub(crate) async fn approved(recording: &Recording) {
    let run = Run::new(
        ScriptedModel::new()
            .reply(refunding())
            .reply("20 are on their way."),
    );
    let paused = run.call(&GiveBack {}).await.unwrap_err().paused().unwrap();
    let id = paused.waiting()[0].id.clone();
    let decided = paused
        .decide(
            &id,
            Approval::edit(json!({"order": "A-1042", "amount": 20})),
        )
        .unwrap();
    run.call(&GiveBack {})
        .approve(decided)
        .record(recording)
        .await
        .unwrap();
}

#[llm_output]
struct Score {
    #[schemars(range(min = 1, max = 5))]
    stars: u8,
}

fn no_stars(_: &Rate, _: &NodeError) -> Score {
    Score { stars: 1 }
}

/// Rates a text.
#[llm_node(prompt = "Rate this: {text}", output = Score, retries = 1, fallback_model = "other", fallback = no_stars)]
struct Rate {
    text: &'static str,
}

pub(crate) async fn fallback(recording: &Recording) {
    let main = ScriptedModel::new()
        .reply("nine")
        .reply("ten")
        .reply("six")
        .reply("seven");
    let other = ScriptedModel::new()
        .reply(r#"{"stars": 4}"#)
        .reply("eleven")
        .reply("twelve");
    let run = Run::new(main).model("other", other);
    let nodes = [Rate { text: "a fine day" }, Rate { text: "a dull day" }];
    let rated = run.map(nodes).concurrency(1).record(recording).await;
    let stars: Vec<u8> = rated
        .into_iter()
        .map(|score| score.unwrap().stars)
        .collect();
    assert_eq!(stars, [4, 1]);
}

/// A process is stopped between two requests, and another one continues.
pub(crate) async fn replayed(recording: &Recording, folder: &Path) -> Run<Ticket> {
    let file = folder.join(format!("replayed-{}.journal", std::process::id()));
    let _ = std::fs::remove_file(&file);
    let (mut run, _server) = desk(true).await;
    let flow = run.flow(Support).resume(JournalFile::open(&file).unwrap());
    // In the second request of the agent, which takes long the first time.
    let stopped = tokio::time::timeout(Duration::from_secs(2), flow).await;
    assert!(stopped.is_err());
    run = run.with_state(desk::ticket());
    run.flow(Support)
        .record(recording)
        .resume(JournalFile::open(&file).unwrap())
        .await
        .unwrap();
    let _ = std::fs::remove_file(&file);
    run
}

const INJECTED: &str = "<script>document.title='ran'</script>";

/// Answers what the test sets.
#[tool]
fn echo(text: String) -> String {
    text
}

/// Everything that others write is a script.
struct Injected;

impl Node for Injected {
    type Output = String;
    const NAME: &'static str = INJECTED;
}

impl<S: ?Sized + Sync> Exec<S> for Injected {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        Ok(cx
            .call(&Ask { text: INJECTED })
            .label(INJECTED, INJECTED)
            .await?)
    }
}

/// Asks.
#[llm_node(prompt = "{text}", tools = [Echo])]
struct Ask {
    text: &'static str,
}

impl llmnode::flow::Step<()> for Injected {
    type Output = String;
    type Action = ();

    async fn prep(_: &()) -> Result<Self, BoxError> {
        Ok(Injected)
    }

    fn post(self, _: String, _: &mut ()) -> Result<(), BoxError> {
        Ok(())
    }
}

pub(crate) async fn injected(recording: &Recording) {
    let call = Reply::text(INJECTED).call("echo", json!({"text": INJECTED}));
    let mut run = Run::new(ScriptedModel::new().reply(call).reply(INJECTED));
    let flow = Flow::builder(INJECTED)
        .step::<Injected>(INJECTED)
        .then(INJECTED, EdgeTarget::End)
        .build()
        .unwrap();
    run.flow(&flow).record(recording).await.unwrap();
}
