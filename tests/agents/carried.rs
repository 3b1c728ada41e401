//! What a server puts beside calls goes back as it came, over real sockets.

use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServer};
use llmnode::{Approval, OpenAi, Paused, ProviderState};
use serde_json::{Value, json};

/// Says what is in stock.
#[tool]
fn stock(item: String) -> usize {
    item.len()
}

/// Sells.
#[tool(require_approval)]
fn sell(item: String) -> String {
    format!("sold {item}")
}

/// Keeps a shop.
#[llm_node(prompt = "Keep the shop.", tools = [Stock, Sell])]
struct Keep;

const SIGNATURE: &str = "c2lnbmF0dXJl";

/// As Gemini behind OpenAI's API and DeepSeek answer.
fn asks_for(tool: &str) -> Value {
    json!({"id": "1", "model": "m", "choices": [{"finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": null, "reasoning_content": "First I look.",
        "tool_calls": [{"id": "a", "type": "function",
            "function": {"name": tool, "arguments": "{\"item\":\"pen\"}"},
            "extra_content": {"google": {"thought_signature": SIGNATURE}}}],
    }}]})
}

fn streamed(whole: &Value) -> StubReply {
    let message = &whole["choices"][0]["message"];
    let mut call = message["tool_calls"][0].clone();
    call["index"] = json!(0);
    let piece = |delta: Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!(
            "data: {}\n\n",
            json!({"id": "1", "model": "m", "choices": [choice]})
        )
    };
    let pieces = [
        piece(json!({"reasoning_content": "First "}), None),
        piece(json!({"reasoning_content": "I look."}), None),
        piece(json!({"tool_calls": [call]}), None),
        piece(json!({}), Some("tool_calls")),
        "data: [DONE]\n\n".to_owned(),
    ];
    StubReply::raw(200, pieces.concat()).header("content-type", "text/event-stream")
}

async fn shop(replies: Vec<StubReply>) -> (StubServer, Run<()>) {
    let server = StubServer::builder().script(replies).start().await.unwrap();
    let model = OpenAi::builder()
        .base_url(server.base_url())
        .model("m")
        .build()
        .unwrap();
    (server, Run::new(model))
}

/// The assistant's turns of each request.
fn turns(server: &StubServer) -> Vec<Vec<Value>> {
    let asked = server.requests();
    let bodies = asked.iter().map(|request| {
        request.json().unwrap()["messages"]
            .as_array()
            .unwrap()
            .clone()
    });
    bodies
        .map(|messages| {
            messages
                .into_iter()
                .filter(|one| one["role"] == "assistant")
                .collect()
        })
        .collect()
}

fn turn(tool: &str) -> Value {
    asks_for(tool)["choices"][0]["message"].clone()
}

/// W14.
#[tokio::test]
async fn it_goes_back_with_its_call_plain_and_streamed() {
    for streams in [false, true] {
        let first = if streams {
            streamed(&asks_for("stock"))
        } else {
            StubReply::raw(200, asks_for("stock").to_string())
        };
        let (server, run) = shop(vec![first, StubReply::text("Three pens.")]).await;
        let call = run.call(&Keep);
        let report = if streams {
            call.stream().report().await
        } else {
            call.report().await
        }
        .unwrap();
        assert_eq!(turns(&server)[1], [turn("stock")], "streamed: {streams}");
        // It is in no record; the conversation has it, also after it was stored.
        assert!(!format!("{:?}{:?}", report.record, report.messages).contains(SIGNATURE));
        let stored = serde_json::to_string(&report.messages).unwrap();
        assert!(
            stored.contains(SIGNATURE) && !stored.contains("extra_content\":{"),
            "{stored}"
        );
        let messages: Vec<Message> = serde_json::from_str(&stored).unwrap();
        assert_eq!(messages, report.messages);
        assert_eq!(
            messages
                .iter()
                .filter_map(Message::carried)
                .map(|one| ProviderState::bytes(one) > 0)
                .collect::<Vec<_>>(),
            [true]
        );
    }
}

#[tokio::test]
async fn another_model_does_not_get_it() {
    #[llm_node(prompt = "Go on.")]
    struct GoOn {
        #[node(history)]
        before: Vec<Message>,
    }

    let (_server, run) = shop(vec![
        StubReply::raw(200, asks_for("stock").to_string()),
        StubReply::text("Three."),
    ])
    .await;
    let before = run.call(&Keep).report().await.unwrap().messages;
    let (server, run) = shop(vec![StubReply::text("a"), StubReply::text("b")]).await;
    let _ = run
        .call(&GoOn {
            before: before.clone(),
        })
        .await
        .unwrap();
    let _ = run.call(&GoOn { before }).model("other").await.unwrap();
    let (same, other) = (turns(&server)[0][0].clone(), turns(&server)[1][0].clone());
    assert_eq!(same, turn("stock"));
    let mut plain = turn("stock");
    plain.as_object_mut().unwrap().remove("reasoning_content");
    plain["tool_calls"][0]
        .as_object_mut()
        .unwrap()
        .remove("extra_content");
    assert_eq!(other, plain);
}

/// W16: a program's edits of a history are sent, with what the call carried.
#[tokio::test]
async fn edited_arguments_and_a_renamed_id_go_out_with_the_signature() {
    #[llm_node(prompt = "Go on.")]
    struct GoOn {
        #[node(history)]
        before: Vec<Message>,
    }

    let (_server, run) = shop(vec![
        StubReply::raw(200, asks_for("stock").to_string()),
        StubReply::text("Three."),
    ])
    .await;
    let before = run.call(&Keep).report().await.unwrap().messages;
    let stored = serde_json::to_string(&before).unwrap();
    let edited = stored
        .replace(r#"\"pen\""#, r#"\"ink\""#)
        .replace(r#"id":"a""#, r#"id":"b""#);
    assert_ne!(stored, edited);
    let (server, run) = shop(vec![StubReply::text("Go.")]).await;
    run.call(&GoOn {
        before: serde_json::from_str(&edited).unwrap(),
    })
    .await
    .unwrap();
    let mut expected = turn("stock");
    expected["tool_calls"][0]["id"] = "b".into();
    expected["tool_calls"][0]["function"]["arguments"] = r#"{"item":"ink"}"#.into();
    assert_eq!(turns(&server)[0][0], expected);
}

/// W15.
#[tokio::test]
async fn it_survives_a_pause_with_edited_arguments() {
    let (server, run) = shop(vec![
        StubReply::raw(200, asks_for("sell").to_string()),
        StubReply::text("Sold."),
    ])
    .await;
    let paused = run.call(&Keep).await.unwrap_err().paused().unwrap();
    // As in another process.
    let stored = serde_json::to_string(&paused).unwrap();
    let paused: Paused = serde_json::from_str(&stored).unwrap();
    let id = paused.waiting()[0].id.clone();
    let decided = paused
        .decide(&id, Approval::edit(json!({"item": "ink"})))
        .unwrap();
    assert_eq!(run.call(&Keep).approve(decided).await.unwrap(), "Sold.");
    // What the model wrote stays; the result says what was done.
    assert_eq!(turns(&server)[1], [turn("sell")]);
    assert!(
        server.requests()[1]
            .json()
            .unwrap()
            .to_string()
            .contains("sold ink")
    );
}

#[tokio::test]
async fn a_rejected_answer_goes_back_with_its_thoughts() {
    let wrong = json!({"id": "1", "model": "m", "choices": [{"finish_reason": "stop", "message": {
        "role": "assistant", "content": "many", "reasoning_content": "Hm."}}]});

    #[llm_node(prompt = "How many?", output = u32, retries = 1)]
    struct Count;

    let (server, run) = shop(vec![
        StubReply::raw(200, wrong.to_string()),
        StubReply::text("3"),
    ])
    .await;
    assert_eq!(run.call(&Count).await.unwrap(), 3);
    let turns = turns(&server);
    assert_eq!(turns[1].len(), 1);
    assert_eq!(turns[1][0]["reasoning_content"], "Hm.");
}

/// W18.
#[tokio::test]
async fn what_is_refused_is_left_out_once_for_this_call() {
    let refused = || {
        StubReply::raw(
            400,
            r#"{"error": {"message": "messages.1: Invalid signature in thought", "type": "invalid_request_error"}}"#,
        )
    };
    let (server, run) = shop(vec![
        StubReply::raw(200, asks_for("stock").to_string()),
        refused(),
        StubReply::text("Three."),
        StubReply::raw(200, asks_for("stock").to_string()),
        refused(),
        refused(),
    ])
    .await;
    let report = run.call(&Keep).report().await.unwrap();
    assert_eq!(report.value, "Three.");
    assert_eq!(report.record.attempts.last().unwrap().refused, ["carried"]);
    let plain = |turn: &Value| {
        turn.get("reasoning_content").is_none()
            && turn["tool_calls"][0].get("extra_content").is_none()
    };
    assert_eq!(
        turns(&server)[1..]
            .iter()
            .map(|turns| plain(&turns[0]))
            .collect::<Vec<_>>(),
        [false, true]
    );
    // The next call tries again, and no third request follows.
    run.call(&Keep).await.unwrap_err();
    assert_eq!(server.requests().len(), 6);
    assert!(!plain(&turns(&server)[4][0]));
}
