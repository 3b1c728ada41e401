//! One conversation over several providers: each request is valid for the one that it goes to.

use llmnode::prelude::*;
use llmnode::{
    Anthropic, BoxError, CallRecord, Failures, Flag, Gemini, OpenAi, Recovery, Settings,
};
use serde_json::{Value, json};

use crate::recorded::{Answer, Recorded, json, refusal};
use crate::valid;

/// Says how much of it is in stock.
#[tool]
fn stock(item: String) -> Result<usize, BoxError> {
    if item == "?" {
        Err("no such item".into())
    } else {
        Ok(item.len())
    }
}

/// Keeps a shop.
#[llm_node(system = "You keep a shop.", prompt = "What is there?", tools = [Stock], turns = 8)]
struct Keep;

const THOUGHT: &str = "Private.";

fn thought() -> Value {
    json!({"type": "thinking", "thinking": THOUGHT, "signature": "YW50aHJvcGlj"})
}

fn message(content: Value) -> Answer {
    json(
        json!({"type": "message", "model": "claude-x", "content": content, "stop_reason": "tool_use",
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 7}}),
    )
}

fn tool_use(id: &str, item: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "stock", "input": {"item": item}})
}

fn candidate(parts: Value) -> Answer {
    json(
        json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 200, "candidatesTokenCount": 5, "thoughtsTokenCount": 6, "totalTokenCount": 211}}),
    )
}

fn choice(message: Value) -> Answer {
    json(
        json!({"object": "chat.completion", "model": "chat-x", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 300, "completion_tokens": 9, "total_tokens": 309}}),
    )
}

fn chat_call(id: &str, item: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "stock", "arguments": json!({"item": item}).to_string()}})
}

fn overloaded() -> Answer {
    refusal(529, "overloaded_error", "Overloaded")
}

fn unavailable() -> Answer {
    let error = json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}});
    (503, "application/json", error.to_string())
}

struct Providers {
    anthropic: Recorded,
    gemini: Recorded,
    chat: Recorded,
}

impl Providers {
    async fn start<const A: usize, const G: usize, const C: usize>(
        anthropic: [Answer; A],
        gemini: [Answer; G],
        chat: [Answer; C],
    ) -> Providers {
        Providers {
            anthropic: Recorded::start(anthropic).await,
            gemini: Recorded::start(gemini).await,
            chat: Recorded::start(chat).await,
        }
    }

    fn claude(&self) -> Anthropic {
        Anthropic::builder()
            .base_url(&self.anthropic.url)
            .model("claude-x")
            .build()
            .unwrap()
    }

    fn gemini(&self) -> Gemini {
        Gemini::builder()
            .base_url(&self.gemini.url)
            .model("gemini-x")
            .build()
            .unwrap()
    }

    fn chat(&self) -> OpenAi {
        OpenAi::builder()
            .base_url(&self.chat.url)
            .model("chat-x")
            .build()
            .unwrap()
    }

    /// What is wrong with all requests.
    fn faults(&self) -> Vec<String> {
        let anthropic = self.anthropic.bodies();
        let anthropic = anthropic
            .iter()
            .flat_map(|body| valid::anthropic(body, &[thought()]));
        let gemini = self.gemini.bodies();
        let gemini = gemini
            .iter()
            .flat_map(|body| valid::gemini(body, &["Z2VtaW5p"]));
        let chat = self.chat.bodies();
        let chat = chat.iter().flat_map(valid::chat);
        anthropic.chain(gemini).chain(chat).collect()
    }
}

fn onward(models: [&'static str; 2]) -> Settings {
    Settings::new().recover(Failures::Transport, models.map(Recovery::model))
}

fn flagged(record: &CallRecord) -> Vec<bool> {
    record
        .attempts
        .iter()
        .map(|attempt| attempt.flags.contains(&Flag::CarriedLeft))
        .collect()
}

/// W27.
#[tokio::test]
async fn a_run_begins_on_anthropic_falls_back_to_gemini_and_ends_on_chat() {
    let signed = json!({"functionCall": {"name": "stock", "args": {"item": "wood"}}, "thoughtSignature": "Z2VtaW5p"});
    let also = json!({"functionCall": {"name": "stock", "args": {"item": "?"}}});
    let servers = Providers::start(
        [
            message(json!([thought(), tool_use("toolu_1", "pen"), tool_use("toolu_2", "?")])),
            message(json!([thought(), {"type": "text", "text": "And"}, tool_use("toolu_3", "chalk")])),
            overloaded(),
        ],
        [candidate(json!([{"text": "Also", "thought": true}, signed, also])), unavailable()],
        [
            choice(json!({"role": "assistant", "content": null, "tool_calls": [chat_call("call_1", "ink")]})),
            choice(json!({"role": "assistant", "content": "Much."})),
        ],
    )
    .await;
    let run = Run::new(servers.claude())
        .model("gemini", servers.gemini())
        .model("chat", servers.chat());
    let run = run.with_settings(onward(["gemini", "chat"]));
    let report = run.call(&Keep).report().await.unwrap();
    assert_eq!(report.value, "Much.");
    assert_eq!(servers.faults(), Vec::<String>::new());
    let asked = |server: &Recorded| server.bodies().len();
    assert_eq!(
        (
            asked(&servers.anthropic),
            asked(&servers.gemini),
            asked(&servers.chat)
        ),
        (3, 2, 2)
    );
    // Its own thoughts went back to Anthropic, and to nobody else.
    assert_eq!(
        servers.anthropic.bodies()[2]["messages"][3]["content"][0],
        thought()
    );
    let others = [servers.gemini.bodies(), servers.chat.bodies()].concat();
    assert!(
        others
            .iter()
            .all(|body| !body.to_string().contains(THOUGHT)),
        "{others:?}"
    );
    let own = &servers.gemini.bodies()[1]["contents"][5]["parts"];
    assert_eq!(
        (&own[0]["thought"], &own[1]["thoughtSignature"]),
        (&json!(true), &json!("Z2VtaW5p"))
    );
    assert_eq!(
        flagged(&report.record),
        [false, false, false, true, true, true, true]
    );
    // By hand: 2 of Anthropic, 1 of Gemini, 2 of chat; nobody reports tokens of a refusal.
    let total = run.ledger().total();
    assert_eq!(
        (total.requests, total.input.known, total.output.known),
        (7, 2 * 100 + 200 + 2 * 300, 2 * 7 + 11 + 2 * 9)
    );
    assert_eq!((total.cached.known, total.reasoning.known), (2 * 90, 6));
}

/// The other way round, to a model that thinks: Anthropic refuses thinking in a turn that began without it, so it continues without.
#[tokio::test]
async fn a_turn_that_began_elsewhere_goes_on_without_thinking() {
    let odd = format!("call:{}", "ä".repeat(80));
    let signed = json!({"functionCall": {"id": "g 1", "name": "stock", "args": {}}, "thoughtSignature": "Z2VtaW5p"});
    let servers = Providers::start(
        [
            refusal(
                400,
                "invalid_request_error",
                "messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` \
                 is enabled, a final `assistant` message must start with a thinking block.",
            ),
            message(json!([tool_use("toolu_1", "pen")])),
            message(json!([{"type": "text", "text": "Much."}])),
        ],
        [candidate(json!([signed])), unavailable()],
        [
            choice(json!({"role": "assistant", "content": null, "tool_calls": [chat_call(&odd, "ink")]})),
            (503, "text/plain", "no".to_owned()),
        ],
    )
    .await;
    let run = Run::new(servers.chat())
        .model("gemini", servers.gemini())
        .model("claude", servers.claude());
    let run = run.with_settings(onward(["gemini", "claude"]));
    let thinking = json!({"type": "enabled", "budget_tokens": 1024});
    let call = run
        .call(&Keep)
        .extra_on(llmnode::ApiKind::Anthropic, "thinking", thinking.clone());
    let report = call.report().await.unwrap();
    assert_eq!(report.value, "Much.");
    let bodies = servers.anthropic.bodies();
    let sent: Vec<_> = bodies.iter().map(|body| body["thinking"].clone()).collect();
    assert_eq!(sent, [thinking, Value::Null, Value::Null]);
    assert_eq!(report.record.attempts.last().unwrap().refused, ["thinking"]);
    for body in &bodies[1..] {
        assert_eq!(valid::anthropic(body, &[]), Vec::<String>::new());
    }
    let before = valid::anthropic(&bodies[0], &[]);
    assert_eq!(before, ["the last turn: it does not begin with thinking"]);
}

/// The checker itself finds what is wrong.
#[test]
fn the_checker_finds_faults() {
    let call = json!({"role": "assistant", "content": [tool_use("a b", "x"), {"type": "thinking", "thinking": "x", "signature": "y"}]});
    let late = json!({"role": "user", "content": [{"type": "text", "text": " "}, {"type": "tool_result", "tool_use_id": "b"}]});
    let body = json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}, call, late]});
    let faults = valid::anthropic(&body, &[]);
    for fault in [
        "an id is no id",
        "a thought that is not",
        "blank text",
        "results come first",
        "not those of the calls",
    ] {
        assert!(
            faults.iter().any(|one| one.contains(fault)),
            "{fault}: {faults:?}"
        );
    }
    let call = json!({"role": "model", "parts": [{"functionCall": {"name": "stock", "args": {}}}]});
    let body = json!({"contents": [{"role": "user", "parts": [{"text": ""}]}, call, {"role": "model", "parts": []}], "store": false});
    let faults = valid::gemini(&body, &[]);
    for fault in [
        "blank text",
        "no signature",
        "do not alternate",
        "no parts",
        "`store`",
        "not the same",
    ] {
        assert!(
            faults.iter().any(|one| one.contains(fault)),
            "{fault}: {faults:?}"
        );
    }
    let call = json!({"role": "assistant", "content": null, "reasoning_content": "x", "tool_calls": [chat_call("", "x")]});
    let faults =
        valid::chat(&json!({"model": "m", "messages": [call, {"role": "user", "content": "x"}]}));
    for fault in [
        "`reasoning_content`",
        "an id is missing",
        "calls have no results",
    ] {
        assert!(
            faults.iter().any(|one| one.contains(fault)),
            "{fault}: {faults:?}"
        );
    }
}
