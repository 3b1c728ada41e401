//! A tool of an MCP server asks in the middle of its work, by the protocol's SDK for Python: the run waits for the answer while its
//! worker is dead, and the tool goes on once.

use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use llmnode::prelude::*;
use llmnode::{Approval, Mcp, McpServer, StubServer, Toolset};
use llmnode_restate::{Decision, Outcome};
use serde_json::json;

use crate::decisions::waits;
use crate::support::{Process, Restate, port, spawn, until};
use crate::work::{Site, World, counts, model};

/// Where the shop is.
const SHOP: &str = "LLMNODE_SHOP";

/// The shop of a worker.
static CONNECTED: OnceLock<McpServer> = OnceLock::new();

/// A worker connects before it takes runs.
pub(crate) async fn connect() {
    if let Ok(url) = std::env::var(SHOP) {
        let shop = Mcp::http(url).name("shop").asks();
        let _ = CONNECTED.set(shop.connect().await.unwrap());
    }
}

fn tools() -> Toolset {
    CONNECTED.get().unwrap().tools()
}

#[llm_node(prompt = "Refund {topic}", state = World, store = answer)]
struct Refund {
    #[prep(state.topic.clone())]
    topic: String,
    #[node(tools)]
    #[prep(tools())]
    tools: Toolset,
}

flow! { pub(crate) Refunding(World): Refund => end }

/// Notes its refunds where the effects of the workers are. `scripts/restate` says which Python has the SDK.
fn open_shop(port: u16, site: &Site) -> Process {
    let python = std::env::var("LLMNODE_MCP_PYTHON").expect("scripts/restate sets it");
    let program = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../crates/llmnode-mcp/tests/mcp/refund.py"
    );
    let mut command = Command::new(python);
    command
        .args([program, &port.to_string()])
        .arg(&site.effects);
    spawn(command)
}

fn worker(site: &Site, port: u16, shop: u16) -> Process {
    let mut command = site.command(port);
    command.env(SHOP, format!("http://127.0.0.1:{shop}/mcp"));
    spawn(command)
}

/// What the model read of the tool, in the run with this id.
fn read_by_model(model: &StubServer, id: &str) -> String {
    let requests = model.requests().into_iter().rev();
    let of_run = requests.map(|request| request.messages());
    let mut of_run =
        of_run.filter(|all| all.iter().any(|(_, text)| *text == format!("Refund {id}")));
    let newest = of_run.next().unwrap();
    let result = newest.iter().find(|(role, _)| role == "tool");
    result.unwrap().1.clone()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn a_question_is_answered_after_its_worker_died() {
    let (model, asked) = model(0, Duration::ZERO).await;
    let (restate, site) = (Restate::start().await, Site::new("asks", model.base_url()));
    let shop = port();
    let _shop = open_shop(shop, &site);
    until("the shop is open", async || {
        tokio::net::TcpStream::connect(("127.0.0.1", shop))
            .await
            .ok()
    })
    .await;
    let port = port();
    let first = worker(&site, port, shop);
    restate.register(port).await;
    let runs = restate.client();
    for id in ["r1", "r2"] {
        runs.start("refunding", id, &World::on(id)).await.unwrap();
        let status = waits(&runs, "refunding", id).await;
        let question = status.waiting[0].question.as_ref().unwrap();
        assert_eq!(
            question.message,
            format!("How many euros for the order {id}?")
        );
        assert_eq!(question.schema["properties"]["euros"]["type"], "integer");
        let call = &status.waiting[0].id;
        let yes = Decision::on(&status).call(call, Approval::yes());
        let refused = runs.decide("refunding", id, &yes).await.unwrap_err();
        assert!(
            refused.to_string().contains("waits for an answer"),
            "{refused}"
        );
    }
    first.kill();
    assert!(site.effects().is_empty());

    let _next = worker(&site, port, shop);
    // What does not follow the schema reaches no tool, and the run waits again.
    let status = waits(&runs, "refunding", "r1").await;
    let call = &status.waiting[0].id;
    let all = Decision::on(&status).answer(call, json!({"euros": "all"}));
    runs.decide("refunding", "r1", &all).await.unwrap();
    let again = until("it waits again", async || {
        let status = runs.status("refunding", "r1").await.ok()?;
        (status.wait == 2).then_some(status)
    })
    .await;
    let fault = again.fault.clone().unwrap();
    assert!(fault.contains("schema"), "{fault}");

    let twenty = Decision::on(&again).answer(call, json!({"euros": 20}));
    runs.decide("refunding", "r1", &twenty).await.unwrap();
    let status = waits(&runs, "refunding", "r2").await;
    let no = Decision::on(&status).call(&status.waiting[0].id, Approval::no("too dear"));
    runs.decide("refunding", "r2", &no).await.unwrap();
    for id in ["r1", "r2"] {
        let outcome: Outcome<World> = runs.result("refunding", id).await.unwrap();
        assert_eq!(outcome.state.answer, format!("answer to: Refund {id}"));
        assert_eq!((outcome.usage.requests, outcome.unknown), (2, 0), "{id}");
        assert_eq!(counts(&asked, id), (2, 0), "{id}");
    }
    let done: Vec<String> = site.effects().into_iter().map(|(_, what)| what).collect();
    assert_eq!(done, ["20 for r1"]);
    assert_eq!(
        read_by_model(&model, "r1"),
        "20 euros are refunded for the order r1"
    );
    let declined = read_by_model(&model, "r2");
    assert!(!declined.contains("are refunded"), "{declined}");
}
