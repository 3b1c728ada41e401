//! The graph of a researcher and a writer over HTTP, killed at the records of its journal, and resumed. The server is the
//! stub, or llama.cpp's with a random model, whose address `scripts/real-components` provides.

#![cfg(unix)]

use std::path::{Path, PathBuf};

use llmnode_flow::flow::RunExt;
use llmnode_flow::journal::JournalFile;
use llmnode_graph::{CheckedRegistry, Graph, State};
use llmnode_http::OpenAi;
use llmnode_runtime::{Approval, Category, Group, NodeError, Paused, RetryBudget, Run, Settings};
use llmnode_stub::{LoggedRequest, StubReply, StubServer};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::support::{graph_of, seed};

#[path = "../../../../crates/llmnode-flow/tests/journal/killing.rs"]
mod killing;

use killing::Killing;

/// A planner fills a list; for each topic a researcher searches, and hands over to a writer; a router looks at the last text; a
/// person lets the editor run. What fails leads on.
fn file() -> String {
    let nodes = json!([
        {"id": "plan", "type": "agent", "data": {"label": "Planner", "isStart": true, "profile_id": 1, "system_prompt": "You plan {{ theme }}.",
            "output_schema": [{"name": "topics", "type": "array", "description": "What to look for."}]}},
        {"id": "each", "type": "iterator", "data": {"label": "Topics", "input_list_variable": "topics", "output_item_variable": "topic"}},
        {"id": "research", "type": "agent", "data": {"label": "Researcher", "profile_id": 1, "system_prompt": "You research.",
            "tools": ["search"], "prompt": "Research {{ topic }}.", "max_iterations": "4"}},
        {"id": "tools", "type": "tool", "data": {"label": "Tool Executor"}},
        {"id": "write", "type": "agent", "data": {"label": "Writer", "profile_id": 1, "system_prompt": "You write.", "save_as": "text"}},
        {"id": "route", "type": "router", "data": {"label": "Router", "routes": [
            {"condition": "regex", "value": ".", "source": "context", "context_key": "text", "target_handle": "go"}]}},
        {"id": "edit", "type": "agent", "data": {"label": "Editor", "profile_id": 1, "prompt": "Edit {{ text }}.", "save_as": "final",
            "require_approval": true}},
        {"id": "rescue", "type": "tool", "data": {"label": "Rescue", "tool_name": "search", "arguments": {"query": "{{ error.category }}"}}},
    ]);
    let edges = [
        "plan > each",
        "plan > rescue by error",
        "each > research by next",
        "research > tools by tool-call",
        "tools > research",
        "research > write by tool-call",
        "research > each",
        "research > each by error",
        "write > each",
        "write > each by error",
        "each > route by complete",
        "route > edit by go",
        "edit > END",
        "rescue > END",
    ];
    seed(nodes, &edges)
}

/// The model's server, as the process that is killed is told.
#[derive(Clone, Serialize, Deserialize)]
struct Server {
    url: String,
    /// Of llama.cpp's.
    key: Option<String>,
    /// What its random model begins with.
    seed: u64,
}

impl Server {
    /// The one that `scripts/real-components` started.
    fn llama(seed: u64) -> Self {
        let variable = |name: &str| {
            std::env::var(name)
                .unwrap_or_else(|_| panic!("{name} is not set: run scripts/real-components"))
        };
        let key = Some(variable("LLMNODE_LLAMA_KEY"));
        Server {
            url: variable("LLMNODE_LLAMA_TOOLS_URL"),
            key,
            seed,
        }
    }

    fn registry(&self) -> CheckedRegistry {
        let (settings, builder) = match &self.key {
            // A random model that calls tools now and then.
            Some(key) => {
                let settings = Settings::new()
                    .temperature(1.0)
                    .max_tokens(200)
                    .extra("seed", self.seed);
                let settings = settings.extra("logit_bias", json!([["{", 1.2]]));
                (
                    settings,
                    OpenAi::builder().api_key(key.clone()).model("tiny-random"),
                )
            }
            None => (Settings::new(), OpenAi::builder().without_key().model("m")),
        };
        let model = builder
            .base_url(&*self.url)
            .retry_budget(RetryBudget::unlimited())
            .build()
            .unwrap();
        crate::support::registry()
            .model_with("1", model, settings)
            .build()
            .unwrap()
    }

    fn run(&self, graph: &Graph) -> Run<State> {
        let none = llmnode_runtime::ScriptedModel::new();
        self.registry()
            .run(none)
            .with_state(graph.start(json!({"theme": "tea"})).unwrap())
    }

    fn graph(&self) -> Graph {
        graph_of(&file(), &self.registry())
    }
}

/// Answers by what was said.
fn answer(request: &LoggedRequest) -> StubReply {
    let messages = request.messages();
    let (first, last) = (&messages[0].1, &messages[messages.len() - 1]);
    match (first.as_str(), last.0.as_str(), last.1.as_str()) {
        (plan, ..) if plan.starts_with("You plan") => {
            StubReply::json(json!({"topics": ["leaf", "cup"]}))
        }
        ("You research.", "user", asked) => StubReply::call("search", json!({"query": asked})),
        ("You research.", "tool", found) => {
            StubReply::call("Writer", json!({"query": format!("Write about {found}")}))
        }
        ("You write.", _, asked) => StubReply::text(format!("tea: {asked}")),
        (_, _, asked) => StubReply::text(format!("done: {asked}")),
    }
}

const REQUESTS: u64 = 8;

async fn stub() -> (StubServer, Server) {
    let reply = StubReply::for_request(answer);
    let stub = StubServer::builder()
        .default_reply(reply)
        .start()
        .await
        .unwrap();
    let server = Server {
        url: stub.base_url(),
        key: None,
        seed: 0,
    };
    (stub, server)
}

/// The pause that a run ended with.
fn paused(outcome: &Result<String, NodeError>) -> Option<Paused> {
    let error = outcome.as_ref().err()?;
    assert!(
        error.category() != Category::Paused || error.paused().is_some(),
        "{error}"
    );
    error.paused()
}

/// Whatever a model says, a run ends, or fails with what its model did: also with a value that is not there for the next one.
fn is_an_end(outcome: &Result<String, NodeError>) -> bool {
    let Err(error) = outcome else { return true };
    matches!(
        error.category(),
        Category::LimitExceeded | Category::PrepError
    ) || error.category().group() != Group::Stop
}

/// Each request counts under a node of the graph.
fn assert_accounted(run: &Run<State>) -> u64 {
    let (nodes, total) = (run.ledger().snapshot().nodes, run.ledger().total().requests);
    let asked = ["plan", "research", "write", "edit"]
        .iter()
        .filter_map(|id| nodes.get(*id));
    assert_eq!(asked.map(|node| node.usage.requests).sum::<u64>(), total);
    total
}

#[tokio::test]
async fn the_graph_runs_over_http() {
    let (stub, server) = stub().await;
    let graph = server.graph();
    let mut run = server.run(&graph);
    let waits = paused(&run.flow(&graph).await).unwrap();
    assert_eq!(waits.waiting()[0].id, "edit");
    run.flow(&graph)
        .approve(waits.decide("edit", Approval::yes()).unwrap())
        .await
        .unwrap();
    assert_eq!(
        run.state()["final"],
        "done: Edit tea: Write about hits for Research cup.."
    );
    assert_eq!(stub.requests_seen(), REQUESTS);
    let nodes = run.ledger().snapshot().nodes;
    let asked = |id: &str| nodes[id].usage.requests;
    assert_eq!(
        (
            asked("plan"),
            asked("research"),
            asked("write"),
            asked("edit")
        ),
        (1, 4, 2, 1)
    );
    let total = run.ledger().total();
    assert_eq!(
        (total.requests, total.total.known),
        (REQUESTS, stub.usage_totals().total().unwrap())
    );
}

#[tokio::test]
#[ignore = "needs scripts/real-components"]
async fn the_graph_runs_on_a_random_model() {
    let (mut ended, mut asked) = (0, 0);
    for seed in 0..8 {
        let server = Server::llama(seed);
        let graph = server.graph();
        let mut run = server.run(&graph);
        let mut outcome = run.flow(&graph).max_steps(60).await;
        if let Some(waits) = paused(&outcome) {
            let decided = waits.decide("edit", Approval::yes()).unwrap();
            outcome = run.flow(&graph).approve(decided).max_steps(60).await;
        }
        assert!(is_an_end(&outcome), "{outcome:?}");
        ended += u32::from(outcome.is_ok());
        asked += assert_accounted(&run);
    }
    println!("8 runs: {ended} ended, {asked} requests");
    assert!(asked >= 8);
}

/// The kills of the part behind the approval are counted from here on.
const APPROVED: usize = 1000;

/// Runs the graph on this journal: up to its pause, then with the approval.
async fn through(
    journal: &Path,
    server: &Server,
    kill: Option<usize>,
) -> (Run<State>, Result<String, NodeError>) {
    let graph = server.graph();
    let open = |from: usize| {
        Killing::new(
            JournalFile::open(journal).unwrap(),
            kill.and_then(|at| at.checked_sub(from)),
        )
    };
    let mut run = server.run(&graph);
    // Decided before, and killed behind that: the step is repeated with it, and nobody is asked again.
    let decided = std::fs::read_to_string(journal.with_extension("approval")).ok();
    let decided = match decided {
        Some(decided) => serde_json::from_str(&decided).unwrap(),
        None => {
            let outcome = run.flow(&graph).max_steps(60).resume(open(0)).await;
            let Some(waits) = paused(&outcome) else {
                return (run, outcome);
            };
            let decided = waits.decide("edit", Approval::yes()).unwrap();
            std::fs::write(
                journal.with_extension("approval"),
                serde_json::to_string(&decided).unwrap(),
            )
            .unwrap();
            decided
        }
    };
    run = server.run(&graph);
    let outcome = run
        .flow(&graph)
        .max_steps(60)
        .resume(open(APPROVED))
        .approve(decided)
        .await;
    (run, outcome)
}

/// The process that is killed: this test program, started again.
#[tokio::test]
async fn child() {
    let Some((journal, (at, server))) = killing::orders::<(usize, Server)>() else {
        return;
    };
    let (_, outcome) = through(&journal, &server, Some(at)).await;
    assert!(is_an_end(&outcome), "{outcome:?}");
}

/// Kills a process there, and goes on in this one. Gives the journal, what this one came to, and whether the other one came to its end
/// before.
async fn killed_at(
    moment: usize,
    server: &Server,
) -> (PathBuf, Run<State>, Result<String, NodeError>, bool) {
    let folder = format!(
        "graph-{}-{}-{moment}",
        std::process::id(),
        server.key.is_some()
    );
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let journal = folder.join("graph.journal");
    let mut child = killing::start("killed::child", &journal, (moment, server));
    let killed = tokio::task::spawn_blocking(move || killing::was_killed(&mut child))
        .await
        .unwrap();
    let (run, outcome) = through(&journal, server, None).await;
    let history = JournalFile::open(&journal).unwrap().history().unwrap();
    let total = history.ledger().total();
    assert_eq!(
        (run.ledger().total(), assert_accounted(&run)),
        (total, total.requests),
        "{moment}"
    );
    assert!(
        history.unknown().len() as u64 <= total.total.unreported_calls,
        "{moment}"
    );
    (journal, run, outcome, !killed)
}

#[tokio::test]
async fn killed_at_each_record_the_graph_goes_on() {
    // Up to the pause, and from the approval on.
    for first in [0, APPROVED] {
        let mut moment = first;
        loop {
            let (stub, server) = stub().await;
            let (journal, run, outcome, ended) = killed_at(moment, &server).await;
            outcome.unwrap();
            assert_eq!(
                run.state()["final"],
                "done: Edit tea: Write about hits for Research cup..",
                "{moment}"
            );
            assert_eq!(
                run.state()["text"],
                "tea: Write about hits for Research cup."
            );
            assert_eq!(run.state().value("topic"), None);
            // Each request is made once, or its outcome is unknown.
            let (seen, total) = (stub.requests_seen(), run.ledger().total());
            let unknown = JournalFile::open(&journal)
                .unwrap()
                .history()
                .unwrap()
                .unknown()
                .len() as u64;
            assert_eq!(total.total.unreported_calls, unknown, "{moment}");
            assert!(
                (REQUESTS..=REQUESTS + unknown).contains(&seen),
                "{moment}: {seen} seen, {unknown} unknown"
            );
            assert!(
                (seen..=seen + unknown).contains(&total.requests),
                "{moment}: {total:?}, {seen} seen"
            );
            std::fs::remove_dir_all(journal.parent().unwrap()).unwrap();
            if ended {
                break;
            }
            // Begins and ends of requests come in turn, and so do the moments before and behind.
            moment += if first == 0 { 5 } else { 2 };
        }
        assert!(moment - first > if first == 0 { 40 } else { 4 }, "{moment}");
    }
}

#[tokio::test]
#[ignore = "needs scripts/real-components"]
async fn killed_at_its_records_the_graph_goes_on_with_a_random_model() {
    let (mut kills, mut ends, mut asked) = (0, 0, 0);
    for seed in [4, 11] {
        for first in [0, APPROVED] {
            let mut moment = first;
            loop {
                let server = Server::llama(seed);
                let (journal, run, outcome, ended) = killed_at(moment, &server).await;
                assert!(is_an_end(&outcome), "{moment}: {outcome:?}");
                asked += run.ledger().total().requests;
                std::fs::remove_dir_all(journal.parent().unwrap()).unwrap();
                ends += u32::from(outcome.is_ok());
                if ended {
                    break;
                }
                kills += 1;
                moment += if first == 0 { 7 } else { 3 };
            }
        }
    }
    println!(
        "{kills} processes were killed; {ends} of the runs that went on ended well, with {asked} requests in all"
    );
    assert!(kills > 5, "{kills}");
}
