//! An agent's conversation on each wire, recorded and played back: with what the provider put into it.

use std::path::PathBuf;

use llmnode::prelude::*;
use llmnode::{Anthropic, CallReport, Cassette, CassetteMode, ChatModel, Gemini, OpenAi};
use serde_json::{Value, json};

use crate::recorded::{Answer, Recorded, json};

/// Says how much of it is in stock.
#[tool]
fn stock(item: String) -> usize {
    item.len()
}

/// Keeps a shop.
#[llm_node(prompt = "What is there?", tools = [Stock])]
struct Keep;

async fn report(model: impl ChatModel + 'static, streamed: bool) -> CallReport<String> {
    let run = Run::new(model);
    let call = run.call(&Keep);
    let report = if streamed {
        call.stream().report().await
    } else {
        call.report().await
    };
    report.unwrap()
}

/// As JSON, with all that messages carry.
fn shown(report: &CallReport<String>) -> Value {
    let usage: Vec<_> = report
        .record
        .attempts
        .iter()
        .map(|attempt| attempt.usage)
        .collect();
    json!({"value": report.value, "messages": report.messages, "usage": format!("{usage:?}")})
}

/// `carried`: what the provider put beside its call, and what the second request has to hold.
async fn plays_back<M: ChatModel + 'static>(
    wire: &str,
    open: fn(&str) -> M,
    answers: [Value; 2],
    carried: &str,
) {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("{wire}-{}.json", std::process::id()));
    let answered = || answers.clone().map(json).to_vec();
    for streamed in [false, true] {
        let _ = std::fs::remove_file(&file);
        let server = Recorded::start(answered()).await;
        let record = Cassette::open(&file).mode(CassetteMode::Record);
        let url = server.url.clone();
        let recorded = report(record.around(move || Ok(open(&url))).unwrap(), streamed).await;
        let second = server.bodies().remove(1);
        assert!(second.to_string().contains(carried), "{wire}: {second}");

        let nowhere = || -> Result<M, _> { panic!("no model is needed") };
        let replayed = report(Cassette::open(&file).around(nowhere).unwrap(), streamed).await;
        assert_eq!(shown(&replayed), shown(&recorded), "{wire}");

        // Where the second answer is missing, the model gets the request that it got then.
        let mut entries: Value =
            serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let is_first = |entry: &Value| entry["request"]["messages"].as_array().unwrap().len() == 1;
        entries["entries"].as_array_mut().unwrap().retain(is_first);
        std::fs::write(&file, entries.to_string()).unwrap();
        let last: Vec<Answer> = answered().split_off(1);
        let server = Recorded::start(last).await;
        let auto = Cassette::open(&file).mode(CassetteMode::Auto);
        let url = server.url.clone();
        let resumed = report(auto.around(move || Ok(open(&url))).unwrap(), streamed).await;
        assert_eq!(
            (server.bodies(), shown(&resumed)),
            (vec![second], shown(&recorded)),
            "{wire}"
        );
    }
    let _ = std::fs::remove_file(&file);
}

/// W15. A server that answers a stream's request with JSON is read as well.
#[tokio::test]
async fn of_chat() {
    let call = json!({"id": "call_a", "type": "function", "function": {"name": "stock", "arguments": "{\"item\": \"pen\"}"}});
    let message = |message: Value| {
        json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "model": "m",
        "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}})
    };
    let first = json!({"role": "assistant", "content": "", "reasoning_content": "Hm, a pen.", "tool_calls": [call]});
    let answers = [
        message(first),
        message(json!({"role": "assistant", "content": "Three."})),
    ];
    let open = |url: &str| OpenAi::builder().base_url(url).model("m").build().unwrap();
    plays_back("chat", open, answers, r#""reasoning_content":"Hm, a pen.""#).await;
}

#[tokio::test]
async fn of_responses() {
    let response = |output: Value| {
        json!({"id": "resp_1", "status": "completed", "error": null, "incomplete_details": null,
        "model": "m", "output": output, "usage": {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12}})
    };
    let thought = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5jcnlwdGVk"});
    let call = json!({"type": "function_call", "id": "fc_1", "call_id": "call_a", "name": "stock", "arguments": "{\"item\": \"pen\"}", "status": "completed"});
    let text = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "Three.", "annotations": []}]});
    let answers = [response(json!([thought, call])), response(json!([text]))];
    let open = |url: &str| {
        OpenAi::builder()
            .base_url(url)
            .model("m")
            .responses()
            .build()
            .unwrap()
    };
    plays_back(
        "responses",
        open,
        answers,
        r#""encrypted_content":"ZW5jcnlwdGVk""#,
    )
    .await;
}

#[tokio::test]
async fn of_messages() {
    let message = |content: Value, stop: &str| {
        json!({"type": "message", "id": "msg_1", "model": "m", "content": content,
        "stop_reason": stop, "usage": {"input_tokens": 3, "cache_read_input_tokens": 6, "output_tokens": 3}})
    };
    let thought = json!({"type": "thinking", "thinking": "A pen.", "signature": "c2lnbmVk"});
    let call =
        json!({"type": "tool_use", "id": "toolu_1", "name": "stock", "input": {"item": "pen"}});
    let answers = [
        message(json!([thought, call]), "tool_use"),
        message(json!([{"type": "text", "text": "Three."}]), "end_turn"),
    ];
    let open = |url: &str| {
        Anthropic::builder()
            .base_url(url)
            .model("m")
            .build()
            .unwrap()
    };
    plays_back("messages", open, answers, r#""signature":"c2lnbmVk""#).await;
}

#[tokio::test]
async fn of_gemini() {
    let answer = |part: Value| {
        json!({"candidates": [{"content": {"parts": [part], "role": "model"}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 12}})
    };
    let call = json!({"functionCall": {"name": "stock", "args": {"item": "pen"}}, "thoughtSignature": "c2lnbmVk"});
    let answers = [answer(call), answer(json!({"text": "Three."}))];
    let open = |url: &str| Gemini::builder().base_url(url).model("m").build().unwrap();
    plays_back("gemini", open, answers, r#""thoughtSignature":"c2lnbmVk""#).await;
}
