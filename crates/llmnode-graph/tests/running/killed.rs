//! The graph of a researcher and a writer over HTTP: killed at each record of its journal, and gone on with.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use llmnode_flow::flow::RunExt;
use llmnode_flow::journal::{Journal, JournalError, JournalFile, Record};
use llmnode_graph::{Graph, Registered};
use llmnode_http::OpenAi;
use llmnode_runtime::{Approval, BoxFuture, Category, NodeError, Paused, Run};
use llmnode_stub::{LoggedRequest, Reply, StubServer};
use serde_json::json;

use crate::support::{graph_of, seed};

/// A planner fills a list; for each topic a researcher searches, and hands over to a writer; a router looks at the last text; a
/// person lets the editor run.
fn file() -> String {
    let nodes = json!([
        {"id": "plan", "type": "agent", "data": {"label": "Planner", "isStart": true, "system_prompt": "You plan {{ theme }}.",
            "output_schema": [{"name": "topics", "type": "array", "description": "What to look for."}]}},
        {"id": "each", "type": "iterator", "data": {"label": "Topics", "input_list_variable": "topics", "output_item_variable": "topic"}},
        {"id": "research", "type": "agent", "data": {"label": "Researcher", "system_prompt": "You research.", "tools": ["search"],
            "prompt": "Research {{ topic }}.", "max_iterations": "6"}},
        {"id": "tools", "type": "tool", "data": {"label": "Tool Executor"}},
        {"id": "write", "type": "agent", "data": {"label": "Writer", "system_prompt": "You write.", "save_as": "text"}},
        {"id": "route", "type": "router", "data": {"label": "Router", "routes": [
            {"condition": "contains", "value": "tea", "source": "context", "context_key": "text", "target_handle": "go"}]}},
        {"id": "edit", "type": "agent", "data": {"label": "Editor", "prompt": "Edit {{ text }}.", "save_as": "final", "require_approval": true}},
    ]);
    let edges = [
        "plan > each",
        "each > research by next",
        "research > tools by tool-call",
        "tools > research",
        "research > write by tool-call",
        "research > each",
        "write > each",
        "each > route by complete",
        "route > edit by go",
        "edit > END",
    ];
    seed(nodes, &edges)
}

/// Answers by what was said.
fn answer(request: &LoggedRequest) -> Reply {
    let messages = request.messages();
    let (first, last) = (&messages[0].1, &messages[messages.len() - 1]);
    match (first.as_str(), last.0.as_str(), last.1.as_str()) {
        (plan, ..) if plan.starts_with("You plan") => Reply::json(json!({"topics": ["leaf", "cup"]})),
        ("You research.", "user", asked) => Reply::call("search", json!({"query": asked})),
        ("You research.", "tool", found) => {
            Reply::call("Writer", json!({"query": format!("Write about {found}")}))
        }
        ("You write.", _, asked) => Reply::text(format!("tea: {asked}")),
        (_, _, asked) => Reply::text(format!("done: {asked}")),
    }
}

const REQUESTS: u64 = 8;

fn model(url: &str) -> OpenAi {
    OpenAi::builder()
        .base_url(url)
        .without_key()
        .model("m")
        .retry_budget(llmnode_runtime::RetryBudget::unlimited())
        .build()
        .unwrap()
}

fn registry() -> Registered {
    crate::support::registry().build().unwrap()
}

fn run(graph: &Graph, url: &str) -> Run<llmnode_graph::State> {
    registry().run(model(url)).with_state(graph.start(json!({"theme": "tea"})).unwrap())
}

async fn server() -> StubServer {
    let reply = Reply::for_request(answer);
    StubServer::builder().default_reply(reply).start().await.unwrap()
}

fn paused(outcome: Result<String, NodeError>) -> Paused {
    let error = outcome.unwrap_err();
    assert_eq!(error.category(), Category::Paused, "{error}");
    error.paused().unwrap()
}

#[tokio::test]
async fn the_graph_runs_over_http() {
    let server = server().await;
    let graph = graph_of(&file(), &registry());
    let mut run = run(&graph, &server.base_url());
    let waits = paused(run.flow(&graph).await);
    assert_eq!(waits.waiting()[0].id, "edit");
    run.flow(&graph).approve(waits.decide("edit", Approval::yes()).unwrap()).await.unwrap();
    assert_eq!(run.state()["final"], "done: Edit tea: Write about hits for Research cup..");
    assert_eq!(server.requests_seen(), REQUESTS);
    let nodes = run.ledger().report().nodes;
    let asked = |id: &str| nodes[id].usage.requests;
    assert_eq!((asked("plan"), asked("research"), asked("write"), asked("edit")), (1, 4, 2, 1));
    let total = run.ledger().total();
    assert_eq!((total.requests, total.total.known), (REQUESTS, server.usage_totals().total().unwrap()));
}

/// Kills its process before it appends a record.
struct Killing {
    file: JournalFile,
    at: usize,
    moments: usize,
}

impl Killing {
    fn moment(&mut self) {
        if self.at == self.moments {
            Command::new("kill").args(["-KILL", &std::process::id().to_string()]).status().unwrap();
            std::thread::sleep(Duration::from_secs(60));
        }
        self.moments += 1;
    }
}

impl Journal for Killing {
    fn read<'j>(
        &'j mut self,
        each: &'j mut (dyn FnMut(Record) + Send),
    ) -> BoxFuture<'j, Result<(), JournalError>> {
        self.file.read(each)
    }

    fn append<'j>(&'j mut self, record: &'j Record) -> BoxFuture<'j, Result<(), JournalError>> {
        Box::pin(async {
            self.moment();
            self.file.append(record).await
        })
    }
}

/// Runs the graph on this journal: up to its pause, then with the approval.
async fn through(journal: &Path, url: &str, kill: Option<usize>) -> llmnode_graph::State {
    let graph = graph_of(&file(), &registry());
    let open = || JournalFile::open(journal).unwrap();
    let mut first = run(&graph, url);
    let outcome = match kill {
        Some(at) => first.flow(&graph).resume(Killing { file: open(), at, moments: 0 }).await,
        None => first.flow(&graph).resume(open()).await,
    };
    if outcome.is_ok() {
        return first.into_state();
    }
    let decided = paused(outcome).decide("edit", Approval::yes()).unwrap();
    std::fs::write(journal.with_extension("approval"), serde_json::to_string(&decided).unwrap()).unwrap();
    let mut second = run(&graph, url);
    match kill {
        Some(at) => second
            .flow(&graph)
            .resume(Killing { file: open(), at, moments: 1000 })
            .approve(decided)
            .await
            .unwrap(),
        None => second.flow(&graph).resume(open()).approve(decided).await.unwrap(),
    };
    second.into_state()
}

/// The process that is killed: this test program, started anew.
#[tokio::test]
async fn child() {
    let Some(journal) = std::env::var_os("JOURNAL_OF_GRAPH").map(PathBuf::from) else { return };
    let at = std::env::var("KILL_AT").unwrap().parse().unwrap();
    through(&journal, &std::env::var("URL_OF_MODEL").unwrap(), Some(at)).await;
}

/// Kills a process there, and goes on in this one. Gives whether it came to its end before.
async fn killed_at(moment: usize) -> bool {
    let server = server().await;
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("graph-{}-{moment}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let journal = folder.join("graph.journal");
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", "killed::child"])
        .env("JOURNAL_OF_GRAPH", &journal)
        .env("URL_OF_MODEL", server.base_url())
        .env("KILL_AT", moment.to_string());
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let status = tokio::task::spawn_blocking(move || child.wait()).await.unwrap().unwrap();
    let state = match std::fs::read_to_string(journal.with_extension("approval")) {
        // Killed behind the approval: the step is repeated with it, and nobody is asked again.
        Ok(decided) if !status.success() => {
            let decided: Paused = serde_json::from_str(&decided).unwrap();
            let graph = graph_of(&file(), &registry());
            let mut run = run(&graph, &server.base_url());
            run.flow(&graph).resume(JournalFile::open(&journal).unwrap()).approve(decided).await.unwrap();
            run.into_state()
        }
        _ => through(&journal, &server.base_url(), None).await,
    };
    assert_eq!(state["final"], "done: Edit tea: Write about hits for Research cup..", "{moment}");
    assert_eq!(state["text"], "tea: Write about hits for Research cup.");
    assert_eq!(state.value("topic"), None);
    // Each request is made once, or stands among those of which nobody knows.
    let history = JournalFile::open(&journal).unwrap().history().unwrap();
    let unknown = u64::try_from(history.unknown().len()).unwrap();
    let seen = server.requests_seen();
    assert!((REQUESTS..=REQUESTS + unknown).contains(&seen), "{moment}: {seen} seen, {unknown} unknown");
    let total = history.ledger().total().requests;
    assert!((seen..=seen + unknown).contains(&total), "{moment}: {total} in the ledger, {seen} seen");
    std::fs::remove_dir_all(&folder).unwrap();
    status.success()
}

#[tokio::test]
async fn killed_at_each_record_the_graph_goes_on() {
    // Up to the pause, and from the approval on.
    for first in [0, 1000] {
        let mut moment = first;
        while !killed_at(moment).await {
            // Begins and ends of requests come in turn.
            moment += if first == 0 { 3 } else { 1 };
        }
        assert!(moment - first > if first == 0 { 20 } else { 2 }, "{moment}");
    }
}
