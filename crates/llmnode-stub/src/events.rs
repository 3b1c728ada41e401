//! Completions as events, in the shape of OpenAI's streams.

use serde_json::{Value, json};

use super::reply::StubReply;

/// Characters: one token.
const PIECE: usize = 4;

pub(super) fn events(body: &[u8], reply: &StubReply, request: &Value) -> Option<Vec<Vec<u8>>> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let mut events = Vec::new();
    if let Some(choice) = body["choices"].get(0) {
        let message = &choice["message"];
        let mut delta = |delta: Value| {
            events.push(chunk(&body, json!([{"index": 0, "delta": delta, "finish_reason": null}])))
        };
        delta(json!({"role": "assistant", "content": ""}));
        for text in reply.pieces.clone().unwrap_or_else(|| pieces(message["content"].as_str())) {
            delta(json!({"content": text}));
        }
        for text in pieces(message["refusal"].as_str()) {
            delta(json!({"refusal": text}));
        }
        for (index, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
            let function = json!({"name": call["function"]["name"], "arguments": ""});
            let begun = json!({"index": index, "id": call["id"], "type": "function", "function": function});
            delta(json!({"tool_calls": [begun]}));
            for text in pieces(call["function"]["arguments"].as_str()) {
                delta(json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]}));
            }
        }
        let finish = &choice["finish_reason"];
        events.push(chunk(&body, json!([{"index": 0, "delta": {}, "finish_reason": finish}])));
    }
    if request["stream_options"]["include_usage"] == true && !body["usage"].is_null() {
        let mut last = chunk(&body, json!([]));
        last["usage"] = body["usage"].clone();
        events.push(last);
    }
    let events = events.iter().map(|event| format!("data: {event}\n\n").into_bytes());
    Some(events.chain([b"data: [DONE]\n\n".to_vec()]).collect())
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

fn pieces(text: Option<&str>) -> Vec<String> {
    let characters: Vec<char> = text.unwrap_or_default().chars().collect();
    characters.chunks(PIECE).map(|piece| piece.iter().collect()).collect()
}
