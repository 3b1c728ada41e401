//! Runs: text as it comes, approvals, stops, history.

use llmnode_graph::Registry;
use llmnode_runtime::{BoxError, Reply, ScriptedModel, Toolset};
use llmnode_serve::{ServerHandle, serve};
use serde_json::{Value, json};

use crate::client::{Events, Folder, get, post, served};

fn question() -> Value {
    json!({"file": 0, "inputs": {"question": "Where is the key?"}, "requests": 9})
}

/// About the first pause of the first run.
async fn decide(served: &ServerHandle, answer: &Value) -> (u16, String) {
    decide_about(served, "1.1", answer).await
}

async fn decide_about(served: &ServerHandle, pause: &str, answer: &Value) -> (u16, String) {
    let mut body = answer.clone();
    body["pause"] = pause.into();
    post(served, "/api/decide", &body).await
}

fn link(panel: &str) -> String {
    let from = panel.find("/pages/").unwrap();
    panel[from..].split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_run_is_followed_to_its_page() {
    let folder = Folder::new("run");
    let model = ScriptedModel::new()
        .reply(Reply::text("").call("pay", json!({"value": 5})))
        .reply("Under the <i>mat</i>.")
        .reply("It is under the mat.");
    let served = served(&folder, model).await;
    let mut events = Events::open(&served).await;
    let form = events.panel("form-0", "Run").await;
    assert!(form.contains("data-name=\"question\""), "{form}");
    assert_eq!(post(&served, "/api/run", &question()).await.0, 200);
    assert_eq!(
        post(&served, "/api/run", &question()).await.0,
        409,
        "one at a time"
    );
    events
        .until(|event| event["append"] == 0 && event["text"].as_str().unwrap().contains("→ pay"))
        .await;
    events
        .until(|event| {
            event["append"] == 0 && event["text"].as_str().unwrap().contains("← pay 5 paid")
        })
        .await;
    events
        .until(|event| event["append"] == 0 && event["text"].as_str().unwrap().contains("Under"))
        .await;

    let waiting = events.waiting("data-decide=\"write\"").await;
    assert!(
        waiting.contains("Arguments, which you may change"),
        "{waiting}"
    );
    // A page that is opened now has all of it.
    let mut late = Events::open(&served).await;
    late.panel("run", "waits for you").await;
    late.waiting("data-decide=\"write\"").await;
    late.until(|event| event["append"] == 0 && event["text"].as_str().unwrap().contains("<i>mat"))
        .await;

    let wrong = json!({"id": "other", "answer": "yes"});
    assert_eq!(decide(&served, &wrong).await.0, 409);
    assert_eq!(
        decide(&served, &json!({"id": "write", "answer": "perhaps"}))
            .await
            .0,
        422
    );
    assert_eq!(
        decide(&served, &json!({"id": "write", "answer": "yes"}))
            .await
            .0,
        200
    );
    assert_eq!(
        decide(&served, &json!({"id": "write", "answer": "yes"}))
            .await
            .0,
        409,
        "once"
    );
    let outcome = events.panel("outcome", "completed").await;
    assert!(
        outcome.contains("\"answer\": \"It is under the mat.\""),
        "{outcome}"
    );
    let (status, page) = get(&served, &link(&outcome), "").await;
    assert_eq!(status, 200);
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("Under the &lt;i&gt;mat"),
        "{page}"
    );
    let history = events.panel("history", "completed").await;
    assert!(
        history.contains("3") && history.contains("data-again=\"1\""),
        "{history}"
    );
}

#[tokio::test]
async fn a_person_says_no_or_edits() {
    let folder = Folder::new("decided");
    let model = ScriptedModel::new().reply("a").reply("b").reply("edited");
    let served = served(&folder, model.clone()).await;
    let mut events = Events::open(&served).await;
    post(&served, "/api/run", &question()).await;
    events.waiting("data-decide").await;
    decide(
        &served,
        &json!({"id": "write", "answer": "no", "why": "not today"}),
    )
    .await;
    events.panel("outcome", "Run 1").await;

    assert_eq!(post(&served, "/api/run", &json!({"again": 1})).await.0, 200);
    events.waiting("data-decide").await;
    let edit = json!({"id": "write", "answer": "edit", "values": {"facts": "what I know"}});
    assert_eq!(
        decide(&served, &edit).await.0,
        409,
        "that was the pause of the first run"
    );
    let nothing = json!({"id": "write", "answer": "edit", "values": null});
    assert_eq!(decide_about(&served, "2.1", &nothing).await.0, 409);
    assert_eq!(decide_about(&served, "2.1", &edit).await.0, 200);
    events.panel("outcome", "edited").await;
    let last = model.requests().pop().unwrap();
    assert!(
        last.messages
            .iter()
            .any(|message| message.content.contains("what I know"))
    );
}

#[tokio::test]
async fn a_run_is_stopped() {
    let folder = Folder::new("stopped");
    let model = ScriptedModel::new().reply(Reply::never());
    let served = served(&folder, model).await;
    let mut events = Events::open(&served).await;
    post(&served, "/api/run", &question()).await;
    events.panel("run", "running").await;
    events.panel("graph-0", "node wait").await;
    assert_eq!(post(&served, "/api/stop", &json!({})).await.0, 200);
    let outcome = events.panel("outcome", "stopped").await;
    let (_, page) = get(&served, &link(&outcome), "").await;
    assert!(page.contains("cancelled"), "{page}");
}

#[tokio::test]
async fn wrong_inputs_and_limits_are_said() {
    let folder = Folder::new("inputs");
    let served = served(
        &folder,
        ScriptedModel::new().reply(Reply::text("").call("pay", json!({"value": 5}))),
    )
    .await;
    let (status, message) = post(
        &served,
        "/api/run",
        &json!({"file": 0, "inputs": {}, "requests": 9}),
    )
    .await;
    assert_eq!(status, 409);
    assert!(message.contains("question"), "{message}");
    let mut events = Events::open(&served).await;
    let one = json!({"file": 0, "inputs": {"question": "?"}, "requests": 1});
    post(&served, "/api/run", &one).await;
    events.panel("outcome", "limit_exceeded").await;
}

/// A person finds a run again by what it was asked.
#[tokio::test]
async fn the_list_says_what_each_run_was_asked() {
    let folder = Folder::new("listed");
    let mut model = ScriptedModel::new();
    for _ in 0..10 {
        model = model.reply("facts");
    }
    let served = served(&folder, model).await;
    let mut events = Events::open(&served).await;
    for run in 1..=10 {
        let question = format!("Question {run} of \u{202e}ten {}", "and so on ".repeat(20));
        // A field that is left empty is sent, too.
        let inputs = json!({"question": question, "messages": ""});
        post(
            &served,
            "/api/run",
            &json!({"file": 0, "inputs": inputs, "requests": 9}),
        )
        .await;
        events.waiting("data-decide").await;
        post(&served, "/api/stop", &json!({})).await;
        events
            .panel("outcome", &format!("The page of run {run}<"))
            .await;
    }
    let history = Events::open(&served)
        .await
        .panel("history", "data-show=\"10\"")
        .await;
    for run in 1..=10 {
        let row = history
            .split("<tr>")
            .find(|row| row.contains(&format!("data-show=\"{run}\"")))
            .unwrap();
        assert!(
            row.contains(&format!("Question {run} of \\u202eten and")) && row.contains('…'),
            "{row}"
        );
        assert!(row.len() < 1_000 && !row.contains("messages"), "{row}");
    }
}

#[tokio::test]
async fn twenty_runs_are_kept() {
    let folder = Folder::new("kept");
    let mut model = ScriptedModel::new();
    for _ in 0..100 {
        model = model.reply("facts");
    }
    let served = served(&folder, model).await;
    let mut events = Events::open(&served).await;
    for run in 1..=100 {
        post(&served, "/api/run", &question()).await;
        events.waiting("data-decide").await;
        post(&served, "/api/stop", &json!({})).await;
        events.panel("outcome", &format!("Run {run} ")).await;
    }
    let history = Events::open(&served)
        .await
        .panel("history", "stopped")
        .await;
    assert_eq!(history.matches("data-again").count(), 20);
    assert_eq!(post(&served, "/api/run", &json!({"again": 1})).await.0, 404);
}

/// As editors write them: no inputs and no prompt, the conversation is the input.
#[tokio::test]
async fn an_agent_without_a_prompt_answers_a_message() {
    let folder = Folder::new("message");
    let model = ScriptedModel::new().reply("It is under the mat.");
    let file = folder.0.join("chat.json");
    let graph = json!({
        "nodes": [{"id": "agent-1", "type": "agent", "data": {"system_prompt": "Be short.", "require_approval": true}}],
        "edges": [{"source": "agent-1", "target": "finish_node"}],
    });
    std::fs::write(&file, graph.to_string()).unwrap();
    let registry = Registry::new().build().unwrap();
    let served = serve(registry)
        .file(file)
        .model(model.clone())
        .start()
        .await
        .unwrap();
    let mut events = Events::open(&served).await;
    assert!(
        events
            .panel("form-0", "Run")
            .await
            .contains("data-name=\"messages\"")
    );
    post(
        &served,
        "/api/run",
        &json!({"file": 0, "inputs": {"messages": "Where is it?"}, "requests": 9}),
    )
    .await;
    events.waiting("data-decide").await;
    assert_eq!(
        decide(&served, &json!({"id": "agent-1", "answer": "yes"}))
            .await
            .0,
        200
    );
    let outcome = events.panel("outcome", "completed").await;
    assert!(outcome.contains("It is under the mat."), "{outcome}");
    assert_eq!(
        model.requests()[0].messages.last().unwrap().shown(),
        "Where is it?"
    );
}

#[tokio::test]
async fn an_edit_that_a_tool_does_not_take_is_made_anew() {
    let folder = Folder::new("anew");
    let pay = Toolset::new().function("pay", "Pays.", |amount: u32| async move {
        Ok::<_, BoxError>(format!("{amount} paid"))
    });
    let data = json!({"tool_name": "pay", "arguments": {"value": 5}, "save_as": "paid", "require_approval": true});
    let graph = json!({
        "nodes": [{"id": "pay-it", "type": "tool", "data": data}],
        "edges": [{"source": "pay-it", "target": "END"}],
    });
    let registry = Registry::new().tools(pay).build().unwrap();
    let file = folder.write(&graph.to_string());
    let served = serve(registry)
        .file(file)
        .model(ScriptedModel::new())
        .start()
        .await
        .unwrap();
    let mut events = Events::open(&served).await;
    post(
        &served,
        "/api/run",
        &json!({"file": 0, "inputs": {}, "requests": 9}),
    )
    .await;
    events.waiting("data-pause=\"1.1\"").await;
    let edit = |values: Value| json!({"id": "pay-it", "answer": "edit", "values": values});
    assert_eq!(
        decide(&served, &edit(json!({"value": "much"}))).await.0,
        200
    );
    let waiting = events.waiting("data-pause=\"1.2\"").await;
    assert!(waiting.contains("decide anew"), "{waiting}");
    assert_eq!(
        decide(&served, &json!({"id": "pay-it", "answer": "yes"}))
            .await
            .0,
        409,
        "an old page"
    );
    assert_eq!(
        decide_about(&served, "1.2", &edit(json!({"value": 7})))
            .await
            .0,
        200
    );
    let outcome = events.panel("outcome", "completed").await;
    assert!(outcome.contains("7 paid"), "{outcome}");
}
