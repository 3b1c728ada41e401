//! Recordings of runs and their pages.

#![allow(clippy::panic, clippy::unwrap_used, missing_docs, reason = "tests")]

mod desk;
mod runs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use llmnode::flow::FlowWatch;
use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::{Recording, Reply, ScriptedModel};
use serde_json::{Value, json};

#[llm_node(prompt = "Say {text}.")]
struct Say {
    text: String,
}

#[llm_node(prompt = "Say {text}.", temperature = 0.25, max_tokens = 77)]
struct Measured {
    text: String,
}

fn say(text: &str) -> Say {
    Say {
        text: text.to_owned(),
    }
}

fn content() -> Recording {
    Recording::new().with_content(true)
}

fn folder() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// For `scripts/browser-pages`, for the tests of the crate and for people: writes the pages to `LLMNODE_PAGES`.
#[tokio::test]
async fn write_the_pages() {
    let Some(folder) = std::env::var_os("LLMNODE_PAGES").map(PathBuf::from) else {
        return;
    };
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, recording: &Recording| {
        std::fs::write(folder.join(format!("{name}.html")), recording.page()).unwrap();
        std::fs::write(folder.join(format!("{name}.json")), recording.to_json()).unwrap();
    };
    let recording = content();
    runs::done(&recording).await;
    write("done", &recording);
    let recording = content();
    runs::failed(&recording).await;
    write("failed", &recording);
    let recording = content();
    runs::paused(&recording).await;
    write("paused", &recording);
    let recording = content();
    runs::approved(&recording).await;
    write("approved", &recording);
    let recording = content();
    runs::fallback(&recording).await;
    write("fallback", &recording);
    let recording = content();
    runs::replayed(&recording, &folder).await;
    write("replayed", &recording);
    let recording = content();
    runs::injected(&recording).await;
    write("injected", &recording);
    let recording = Recording::new();
    runs::done(&recording).await;
    write("figures", &recording);
}

fn recorded(recording: &Recording) -> Value {
    serde_json::from_str(&recording.to_json()).unwrap()
}

#[tokio::test]
async fn figures_are_those_of_the_ledger_and_calls_know_their_step() {
    let recording = content();
    let run = runs::done(&recording).await;
    let document = recorded(&recording);
    assert!(recording.page() == Recording::from_json(&recording.to_json()).unwrap().page());
    assert_eq!(
        document["totals"]["usage"],
        serde_json::to_value(run.ledger().total()).unwrap()
    );
    let steps = document["steps"].as_array().unwrap();
    let visits: Vec<_> = steps
        .iter()
        .map(|step| step["position"][0].as_str().unwrap())
        .collect();
    assert_eq!(
        visits,
        [
            "Classify",
            "Investigate",
            "Write",
            "Check",
            "Write",
            "Check"
        ]
    );
    for call in document["calls"].as_array().unwrap() {
        let step = &steps[usize::try_from(call["step"].as_u64().unwrap()).unwrap() - 1];
        assert_eq!(call["record"]["at"], step["position"], "{}", call["node"]);
    }
    let reviews = document["calls"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|call| call["node"] == "review");
    let items: Vec<_> = reviews.filter_map(|call| call["item"].as_u64()).collect();
    assert_eq!(items, [0, 1, 2, 0, 1, 2]);
    // The same is in the ledger.
    let ledger = run.ledger().snapshot();
    let classify = ledger
        .calls
        .iter()
        .find(|call| call.node == "classify")
        .unwrap();
    assert_eq!(classify.at.as_ref().unwrap().to_string(), "Classify");
    let attempts: Vec<_> = classify
        .attempts
        .iter()
        .map(|attempt| attempt.started.unwrap())
        .collect();
    assert!(classify.started <= attempts[0] && attempts[0] < attempts[1]);
    let agent = ledger
        .calls
        .iter()
        .find(|call| call.node == "investigate")
        .unwrap();
    let tool = &agent.attempts[0].tools[0];
    assert!(tool.started.unwrap() > agent.attempts[0].started.unwrap() && !tool.decided);
}

#[tokio::test]
async fn without_content_there_is_none() {
    let recording = Recording::new();
    runs::failed(&recording).await;
    let all = recording.to_json() + &recording.page();
    for content in [
        "A-1042",
        "Which topic",
        "customs",
        "Delivery",
        "sk-planted",
        "127.0.0.1",
        "with_limits",
    ] {
        assert!(!all.contains(content), "{content}");
    }
    assert!(all.contains("limit_exceeded at Check"));
}

/// Names of members may be the model's own words.
#[tokio::test]
async fn what_corrections_changed_is_content() {
    #[llm_node(prompt = "Whose?", output = BTreeMap<String, u8>, retries = 1)]
    struct Count;

    let secret = |text: &str| text.replace("Ada", "[name]");
    for (recording, is_shown) in [(Recording::new(), false), (content().redact(secret), true)] {
        let model = ScriptedModel::new()
            .reply(r#"{"Ada": 500}"#)
            .reply(r#"{"Ada": 5}"#);
        Run::new(model)
            .call(&Count)
            .record(&recording)
            .await
            .unwrap();
        let paths = &recorded(&recording)["calls"][0]["corrected"];
        assert_eq!(
            *paths,
            if is_shown {
                json!(["/[name]"])
            } else {
                Value::Null
            }
        );
        let page = recording.page();
        assert_eq!(page.contains("Corrected: /[name]"), is_shown);
        assert!(
            !page.contains("Ada")
                && page == Recording::from_json(&recording.to_json()).unwrap().page()
        );
    }
}

#[tokio::test]
async fn secrets_and_what_the_program_says_are_removed() {
    let recording = content().redact(|text| text.replace("A-1042", "[order]"));
    runs::done(&recording).await;
    let all = recording.to_json() + &recording.page();
    assert!(all.contains("[order]") && !all.contains("A-1042") && !all.contains("sk-planted"));
}

#[tokio::test]
async fn a_run_that_goes_on_and_one_that_is_dropped_have_pages() {
    let run = Run::new(ScriptedModel::new().reply(Reply::never()));
    let (recording, node) = (content(), say("it"));
    let mut call = Box::pin(run.call(&node).record(&recording));
    let waited = tokio::time::timeout(std::time::Duration::from_millis(20), &mut call).await;
    assert!(waited.is_err());
    let page = recording.page();
    assert!(
        page.contains("running") && page.contains("Request under way") && page.contains("Say it.")
    );
    drop(call);
    let page = recording.page();
    assert!(page.contains("It was dropped before its end.") && page.contains("cancelled"));
}

#[tokio::test]
async fn a_recording_stands_beside_a_journal_and_a_watch() {
    let file = folder().join("beside.journal");
    let _ = std::fs::remove_file(&file);
    let (recording, watch) = (content(), FlowWatch::default());
    let server = desk::stub(false).start().await.unwrap();
    let model = llmnode::OpenAi::builder()
        .base_url(server.base_url())
        .model("stub")
        .build()
        .unwrap();
    let mut run = Run::new(model).with_state(desk::ticket());
    run.flow(desk::Support)
        .watch(&watch)
        .record(&recording)
        .resume(JournalFile::open(&file).unwrap())
        .await
        .unwrap();
    let document = recorded(&recording);
    assert_eq!(document["totals"]["steps"], watch.record().unwrap().taken);
    assert!(
        watch
            .record()
            .unwrap()
            .path
            .iter()
            .all(|step| step.started.is_some())
    );
    assert_eq!(document["flows"][0]["ended"]["category"], Value::Null);
}

#[tokio::test]
async fn answers_from_a_journal_are_told_apart() {
    let recording = content();
    let run = runs::replayed(&recording, folder()).await;
    let document = recorded(&recording);
    assert_eq!(document["totals"]["replayed"], 1);
    assert!(recording.page().contains("From a journal"));
    assert!(run.state().draft.contains("we send a new one"));
}

#[tokio::test]
async fn a_fault_in_it_does_not_touch_the_run() {
    let recording = content().redact(|_| panic!("broken"));
    let run = Run::new(ScriptedModel::new().reply("Hello"));
    assert_eq!(
        run.call(&say("hello")).record(&recording).await.unwrap(),
        "Hello"
    );
    assert!(recording.page().starts_with("<!DOCTYPE html>"));
}

#[tokio::test]
async fn the_newest_are_kept() {
    let recording = content().limit(5);
    let run = Run::new((0..20).fold(ScriptedModel::new(), |model, n| model.reply(format!("{n}"))));
    run.map((0..20).map(|n| say(&n.to_string())))
        .concurrency(1)
        .record(&recording)
        .await;
    let document = recorded(&recording);
    let items: Vec<_> = document["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["item"].as_u64().unwrap())
        .collect();
    assert_eq!(items, [15, 16, 17, 18, 19]);
    let totals = &document["totals"];
    assert_eq!(
        (
            &totals["outer_calls"],
            &totals["usage"]["requests"],
            &totals["left_out"]
        ),
        (&20.into(), &20.into(), &15.into())
    );
    assert!(
        recording.page().contains("say × 20") && recording.page().contains("15 more are not shown")
    );
}

#[tokio::test]
async fn long_texts_are_cut() {
    let recording = content();
    let run = Run::new(ScriptedModel::new().reply("y".repeat(70_000)));
    run.call(&say(&"ä".repeat(40_000)))
        .record(&recording)
        .await
        .unwrap();
    let exchange = &recorded(&recording)["calls"][0]["exchanges"][0];
    let (prompt, answer) = (&exchange["messages"][0]["text"], &exchange["answer"]);
    assert!(prompt.as_str().unwrap().ends_with("ä\n[14469 more bytes]"));
    // The ledger cuts it, too.
    assert_eq!(answer.as_str().unwrap().len(), 64 * 1024);
}

#[tokio::test]
async fn one_run_in_two_recordings_and_one_recording_at_two_places() {
    let (outer, inner) = (content(), content());
    let run = Run::new(ScriptedModel::new().reply("a").reply("b"));
    run.call(&Both {
        inner: inner.clone(),
    })
    .record(&outer)
    .await
    .unwrap();
    let names = |recording: &Recording| {
        let calls = recorded(recording)["calls"].as_array().unwrap().clone();
        calls
            .iter()
            .map(|call| call["node"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&outer), ["both", "say", "say"]);
    assert_eq!(names(&inner), ["say"]);
    let run = Run::new(ScriptedModel::new().reply("a").reply("b"));
    run.call(&Both {
        inner: outer.clone(),
    })
    .record(&outer)
    .await
    .unwrap();
    assert_eq!(names(&outer).len(), 6, "nothing twice");
}

#[tokio::test]
async fn what_took_the_place_of_an_answer_is_shown() {
    let recording = content();
    runs::fallback(&recording).await;
    let document = recorded(&recording);
    let values: Vec<_> = document["calls"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|call| call["fallback"].as_str())
        .collect();
    assert_eq!(values, [r#"{"stars":1}"#]);
    assert!(recording.page().contains("fallback value"));
    let figures = Recording::new();
    runs::fallback(&figures).await;
    assert!(!figures.to_json().contains("stars"));
}

#[tokio::test]
async fn what_models_were_offered_is_shown_once_for_each_node() {
    let recording = content();
    runs::done(&recording).await;
    let document = recorded(&recording);
    let classify = document["offered"]["classify"]["schema"].as_str().unwrap();
    assert!(serde_json::from_str::<Value>(classify).unwrap()["properties"].is_object());
    let tools = document["offered"]["investigate"]["tools"]
        .as_array()
        .unwrap();
    assert!(
        tools.iter().any(|tool| tool["name"] == "order_status"),
        "{tools:?}"
    );
    assert!(recording.page().contains("Schemas and tools</h2>"));
}

/// Its values, or of a conversation the last message.
#[tokio::test]
async fn the_result_of_a_graph_is_shown() {
    let registry = llmnode::graph::Registry::new().build().unwrap();
    let file = json!({"format": "llmnode/graph", "version": 1, "inputs": {"word": {"type": "string"}},
        "nodes": [{"id": "say", "type": "agent", "data": {"isStart": true, "prompt": "Say {{ word }}.", "save_as": "answer"}}],
        "edges": [{"source": "say", "target": "END"}]});
    let graph = llmnode::graph::Graph::parse(&file.to_string(), &registry).unwrap();
    let start = graph.start(json!({"word": "hello"})).unwrap();
    let mut run = registry
        .run(ScriptedModel::new().reply("Hello <b>there</b>"))
        .with_state(start);
    let (recording, figures) = (content(), Recording::new());
    run.flow(&graph).record(&recording).await.unwrap();
    let output = recorded(&recording)["flows"][0]["output"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(output, run.state().shown());
    assert!(
        output.contains("Hello <b>there</b>") && output.contains("word"),
        "{output}"
    );
    assert!(recording.page().contains("Result") && !recording.page().contains("<b>"));
    let start = graph.start(json!({"word": "hello"})).unwrap();
    let mut run = registry
        .run(ScriptedModel::new().reply("Hello there"))
        .with_state(start);
    run.flow(&graph).record(&figures).await.unwrap();
    assert!(!figures.to_json().contains("Hello") && !figures.page().contains("Result"));
}

/// Two agents, the second behind an approval: the first is an agent of the graph that writes `draft`.
async fn approved(recordings: [&Recording; 2]) -> Recording {
    let registry = llmnode::graph::Registry::new().build().unwrap();
    let file = json!({"format": "llmnode/graph", "version": 1, "name": "letters", "inputs": {"word": {"type": "string"}},
        "nodes": [
            {"id": "draft", "type": "agent", "data": {"prompt": "Draft {{ word }}.", "save_as": "draft"}},
            {"id": "send", "type": "agent", "data": {"prompt": "Send {{ draft }}.", "save_as": "sent", "require_approval": true}},
        ],
        "edges": [{"source": "draft", "target": "send"}, {"source": "send", "target": "END"}]});
    let graph = llmnode::graph::Graph::parse(&file.to_string(), &registry).unwrap();
    let start = graph.start(json!({"word": "hello"})).unwrap();
    let model = ScriptedModel::new()
        .reply("First line\nsecond line")
        .reply("Done.");
    let mut run = registry.run(model).with_state(start);
    let paused = run
        .flow(&graph)
        .record(recordings[0])
        .await
        .unwrap_err()
        .paused()
        .unwrap();
    let decided = paused.decide("send", llmnode::Approval::yes()).unwrap();
    run.flow(&graph)
        .record(recordings[1])
        .approve(decided)
        .await
        .unwrap();
    recordings[1].clone()
}

#[tokio::test]
async fn a_pause_and_what_follows_are_one_run() {
    let recording = content();
    let recording = approved([&recording, &recording]).await;
    let document = recorded(&recording);
    assert_eq!(
        document["flows"].as_array().unwrap().len(),
        1,
        "{document:#}"
    );
    assert!(document["flows"][0]["ended"]["category"].is_null());
    let visits: Vec<_> = document["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| (&step["position"], &step["visit"]))
        .collect();
    assert_eq!(
        visits,
        [
            (&json!(["draft"]), &json!(1)),
            (&json!(["send"]), &json!(1))
        ]
    );
    assert_eq!(document["totals"]["steps"], 2);
    let page = recording.page();
    assert!(
        page.contains(">completed<") && page.contains("1 flow") && !page.contains("×2"),
        "{page}"
    );
    // In a recording of its own, what follows is a run that began elsewhere.
    let (first, second) = (content(), content());
    approved([&first, &second]).await;
    assert_eq!(recorded(&second)["flows"].as_array().unwrap().len(), 1);
    assert!(first.page().contains(">paused<"));
    // The same flow, begun anew, is another run.
    let again = content();
    approved([&again, &content()]).await;
    approved([&again, &content()]).await;
    assert_eq!(recorded(&again)["flows"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn values_before_and_after_each_step_are_shown() {
    let (recording, figures) = (content(), Recording::new());
    approved([&recording, &recording]).await;
    let page = recording.page();
    let section = page
        .split("Values before and after each step")
        .nth(2)
        .unwrap();
    assert!(
        section.contains("<h3>draft</h3>") && section.contains("not there"),
        "{section}"
    );
    assert!(
        section.contains("First line\nsecond line") && section.contains("<h3>sent</h3>"),
        "{section}"
    );
    approved([&figures, &figures]).await;
    assert!(!figures.page().contains("Values before") && !figures.to_json().contains("First line"));
}

#[tokio::test]
async fn settings_of_a_request_are_shown() {
    let recording = content();
    let run = Run::new(ScriptedModel::new().reply("Hello"));
    run.call(&Measured {
        text: "hello".to_owned(),
    })
    .record(&recording)
    .await
    .unwrap();
    let page = recording.page();
    assert!(
        page.contains("temperature 0.25 · at most 77 tokens"),
        "{page}"
    );
}

struct Both {
    inner: Recording,
}

impl llmnode::Node for Both {
    type Output = ();
    const NAME: &'static str = "both";
}

impl<S: ?Sized + Sync> llmnode::Exec<S> for Both {
    async fn exec(&self, cx: &llmnode::Cx<'_, S>) -> Result<(), llmnode::BoxError> {
        cx.call(&say("a")).record(&self.inner).await?;
        cx.call(&say("b")).await?;
        Ok(())
    }
}
