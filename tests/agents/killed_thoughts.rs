//! An agent that thinks and calls tools side by side, whose process is killed at each record: what Anthropic put into its turns
//! goes back whole.

#![cfg(unix)]

use std::path::Path;

use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::{Anthropic, BoxError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::killed::killing::{self, Killing};
use crate::recorded::{Answer, Asked, Recorded, json};

#[derive(Default, Serialize, Deserialize)]
struct World {
    said: String,
}

/// Says how much of it is in stock.
#[tool]
fn stock(item: String) -> Result<usize, BoxError> {
    if item == "?" {
        Err("no such item".into())
    } else {
        Ok(item.len())
    }
}

#[llm_node(prompt = "What is there?", state = World, tools = [Stock], store = said)]
struct Keep {}

flow! { Keeping(World): Keep => end }

fn call(id: &str, item: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "stock", "input": {"item": item}})
}

/// The turns of the conversation.
fn turns() -> [Value; 3] {
    let thought = |said: &str, signature: &str| json!({"type": "thinking", "thinking": said, "signature": signature});
    [
        json!([
            thought("Two things.", "c2lnMQ=="),
            {"type": "text", "text": "I look."},
            call("toolu_1", "pen"),
            thought("And", "c2lnMg=="),
            call("toolu_2", "?")
        ]),
        json!([{"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"}, call("toolu_3", "ink"), call("toolu_4", "chalk")]),
        json!([{"type": "text", "text": "Much."}]),
    ]
}

fn answer(asked: &Asked) -> Answer {
    let at = asked.body["messages"].as_array().unwrap().len() / 2;
    json(
        json!({"type": "message", "id": "msg_1", "model": "claude-x", "content": turns()[at],
        "stop_reason": if at == 2 { "end_turn" } else { "tool_use" }, "usage": {"input_tokens": 3, "output_tokens": 5}}),
    )
}

fn run(url: &str) -> Run<World> {
    Run::new(
        Anthropic::builder()
            .base_url(url)
            .model("claude-x")
            .build()
            .unwrap(),
    )
    .with_state(World::default())
}

/// The process that is killed: this test program, started anew.
#[tokio::test]
async fn child() {
    let Some((journal, (at, url))) = killing::orders::<(usize, String)>() else {
        return;
    };
    let file = JournalFile::open(&journal).unwrap();
    run(&url)
        .flow(Keeping)
        .resume(Killing::new(file, Some(at)))
        .await
        .unwrap();
}

/// Kills a process there, and goes on in this one. Gives whether it came to its end before.
async fn killed_at(moment: usize, folder: &Path) -> bool {
    let journal = folder.join(format!("{moment}.journal"));
    let server = Recorded::answering(answer).await;
    let orders = (moment, &server.url);
    let mut process = killing::start("killed_thoughts::child", &journal, orders);
    let ended = tokio::task::spawn_blocking(move || !killing::was_killed(&mut process))
        .await
        .unwrap();
    let before = server.bodies().len();
    let mut run = run(&server.url);
    run.flow(Keeping)
        .resume(JournalFile::open(&journal).unwrap())
        .await
        .unwrap();
    assert_eq!(run.state().said, "Much.", "{moment}");

    let (bodies, turns) = (server.bodies(), turns());
    let unknown = JournalFile::open(&journal)
        .unwrap()
        .history()
        .unwrap()
        .unknown()
        .len();
    assert!(
        (3..=3 + unknown).contains(&bodies.len()),
        "{moment}: {before} of {}, {unknown} unknown",
        bodies.len()
    );
    for body in &bodies {
        let messages = body["messages"].as_array().unwrap();
        for (turn, sent) in turns.iter().zip(messages.iter().skip(1).step_by(2)) {
            assert_eq!(sent["content"], *turn, "{moment}");
        }
        for results in messages.iter().skip(2).step_by(2) {
            assert_eq!(
                results["content"].as_array().unwrap().len(),
                2,
                "{moment}: {results}"
            );
        }
    }
    ended
}

#[tokio::test]
async fn killed_at_each_record_an_agent_sends_its_thoughts_back() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-thoughts-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut moment = 0;
    while !killed_at(moment, &folder).await {
        moment += 1;
    }
    assert!(moment > 20, "{moment}");
    std::fs::remove_dir_all(folder).unwrap();
}
