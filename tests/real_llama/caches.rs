//! What llama.cpp's server reads from its cache: the turns of an agent begin as the turn before them did. And the marks for
//! Anthropic's cache, which a gateway hands on.
//!
//! llama.cpp's weights are random, so a bias leads the model to its one tool. What is checked is what the server counts and what the record
//! says of it, not what the model says.

use llmnode::prelude::*;
use llmnode::stub_server::StubReply;
use llmnode::{Anthropic, AttemptRecord, CacheLost, OpenAi, StubServer};
use serde_json::{Value, json};

use crate::support::{key, only, tools_url, variable};
use crate::wire::Wire;

const TURNS: usize = 10;

/// Of what the turn before has sent, so much is read from the cache.
const LEAST_SHARE: f64 = 0.9;

/// Measures a depth.
#[tool]
fn zoom(depth: u8) -> String {
    format!("At {depth} the water is clear.")
}

#[llm_output]
struct Clarity {
    clear: bool,
}

/// The eleventh turn is told to answer by name, which this server ignores: with the bias it ends in an error, and is not counted.
#[llm_node(
    system = "Measure the lake at each depth before you answer.",
    prompt = "{notes}\nIs the lake clear?",
    output = Clarity,
    tools = [Zoom],
    turns = 11,
    retries = 0,
    transport_retries = 0,
    temperature = 0.0,
    max_tokens = 200
)]
struct Measure {
    notes: String,
}

/// Some thirty tokens, or more than a thousand. This server keeps both.
fn notes(days: usize) -> String {
    (0..days)
        .map(|day| format!("Day {day}: wind and some rain.\n"))
        .collect()
}

#[tokio::test]
#[ignore = "needs scripts/real-components"]
async fn turns_of_an_agent_read_their_beginning_from_the_cache() {
    for days in [3, 180] {
        read_their_beginning(days).await;
    }
}

async fn read_their_beginning(days: usize) {
    let model = OpenAi::builder()
        .base_url(tools_url())
        .api_key(key())
        .model("tiny-random")
        .build()
        .unwrap();
    let node = Measure { notes: notes(days) };
    // A call begins with a brace and names the tool; without the bias, random weights hardly ever begin one.
    let outcome = Run::new(model)
        .call(&node)
        .extra("logit_bias", only("z{"))
        .extra("parallel_tool_calls", false)
        .report()
        .await;
    let record = outcome
        .as_ref()
        .map_or_else(|error| error.record().unwrap(), |report| &report.record);

    let turns = record.attempts.get(..TURNS).expect("ten turns");
    assert!(turns.iter().all(|turn| turn.tools.len() == 1), "{turns:?}");
    let mut least = f64::INFINITY;
    for pair in turns.windows(2) {
        let share = share_read(&pair[0], &pair[1]);
        assert!(share >= LEAST_SHARE, "{share}: {pair:?}");
        assert_eq!(*pair[1].cache_lost(), CacheLost::Kept, "{pair:?}");
        least = least.min(share);
    }
    println!("{TURNS} turns: each read at least {least:.3} of the prompt before it from the cache");
}

/// The cached tokens of a turn, by all tokens of the prompt of the turn before it.
fn share_read(before: &AttemptRecord, turn: &AttemptRecord) -> f64 {
    let before = before.usage.and_then(|usage| usage.input).unwrap();
    let cached = turn.usage.and_then(|usage| usage.cached).unwrap();
    cached as f64 / before as f64
}

struct Lake {
    notes: String,
}

#[llm_node(
    system = "Measure the lake at each depth before you answer.\n{state.notes}",
    prompt = "Is the lake clear?",
    tools = [Zoom],
    state = Lake,
    cache = 5m,
    transport_retries = 0
)]
struct MeasureMarked;

/// LiteLLM's proxy stands before the stub server, which stands in for Anthropic: each mark arrives where it was set.
#[tokio::test]
#[ignore = "needs scripts/litellm"]
async fn marks_arrive_behind_litellm() {
    let Ok(gateway) = std::env::var("LLMNODE_LITELLM_URL") else {
        println!("skipped: scripts/litellm serves the gateway");
        return;
    };
    let url = variable("LLMNODE_STUB_URL");
    let port = url.rsplit(':').next().unwrap();
    let stub = StubServer::builder()
        .port(port.parse().unwrap())
        .script([StubReply::text("Clear.")])
        .start()
        .await
        .unwrap();
    let wire = Wire::to(&(gateway + "/v1")).await;
    let model = Anthropic::builder()
        .base_url(wire.base_url())
        .api_key(key())
        .model("claude-stub")
        .build()
        .unwrap();
    Run::new(model)
        .with_state(Lake { notes: notes(180) })
        .call(&MeasureMarked)
        .await
        .unwrap();

    let sent = marks(&wire.exchanges()[0].question);
    let requests = stub.requests();
    let arrived = marks(requests[0].json().unwrap());
    println!("{sent:?}");
    assert!(sent.len() >= 2, "{sent:?}");
    assert_eq!(arrived, sent);
}

/// The places of a body's marks, as JSON pointers.
fn marks(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect_marks(body, "", &mut found);
    found.sort();
    found
}

fn collect_marks(value: &Value, at: &str, found: &mut Vec<String>) {
    if value["cache_control"] == json!({"type": "ephemeral"}) {
        found.push(at.to_owned());
    }
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                collect_marks(member, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                collect_marks(item, &format!("{at}/{place}"), found);
            }
        }
        _ => {}
    }
}
