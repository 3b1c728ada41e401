//! Completions as events, in the shape of OpenAI's streams.

use serde_json::{Value, json};

use crate::model_answer::{list, pieces};

/// `scripted`: the pieces of the text, if the reply has its own.
pub(crate) fn events(body: &Value, scripted: Option<&[String]>, request: &Value) -> Vec<Vec<u8>> {
    let mut events = Vec::new();
    if let Some(choice) = body["choices"].get(0) {
        let message = &choice["message"];
        let mut deltas = Vec::new();
        deltas.push(json!({"role": "assistant", "content": ""}));
        for text in pieces(message["reasoning_content"].as_str().unwrap_or_default()) {
            deltas.push(json!({"reasoning_content": text}));
        }
        let text = message["content"].as_str().unwrap_or_default();
        for text in scripted.map_or_else(|| pieces(text), <[String]>::to_vec) {
            deltas.push(json!({"content": text}));
        }
        for text in pieces(message["refusal"].as_str().unwrap_or_default()) {
            deltas.push(json!({"refusal": text}));
        }
        for (index, call) in list(&message["tool_calls"]).iter().enumerate() {
            let function = json!({"name": call["function"]["name"], "arguments": ""});
            let begun =
                json!({"index": index, "id": call["id"], "type": "function", "function": function});
            deltas.push(json!({"tool_calls": [begun]}));
            for text in pieces(call["function"]["arguments"].as_str().unwrap_or_default()) {
                deltas.push(
                    json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]}),
                );
            }
        }
        for delta in deltas {
            let choice = json!({"index": 0, "delta": delta, "finish_reason": null});
            events.push(chunk(body, json!([choice])));
        }
        let finish = &choice["finish_reason"];
        events.push(chunk(
            body,
            json!([{"index": 0, "delta": {}, "finish_reason": finish}]),
        ));
    }
    if request["stream_options"]["include_usage"] == true && !body["usage"].is_null() {
        let mut last = chunk(body, json!([]));
        last["usage"] = body["usage"].clone();
        events.push(last);
    }
    let events = events
        .iter()
        .map(|event| format!("data: {event}\n\n").into_bytes());
    events.chain([b"data: [DONE]\n\n".to_vec()]).collect()
}

fn chunk(body: &Value, choices: Value) -> Value {
    json!({
        "id": body["id"],
        "object": "chat.completion.chunk",
        "created": body["created"],
        "model": body["model"],
        "choices": choices,
    })
}
