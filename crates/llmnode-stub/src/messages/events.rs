//! Messages as events, one block after the other.

use serde_json::{Value, json};

use crate::model_answer::{list, pieces, word};

/// `scripted`: the pieces of the text, if the reply has its own.
pub(crate) fn events(body: &Value, scripted: Option<&[String]>) -> Vec<Vec<u8>> {
    let mut begun = body.clone();
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    // A message begins with a placeholder for its output.
    if begun["usage"]["output_tokens"].is_u64() {
        begun["usage"]["output_tokens"] = json!(1);
    }
    let mut events = vec![
        json!({"type": "message_start", "message": begun}),
        json!({"type": "ping"}),
    ];
    for (at, block) in list(&body["content"]).iter().enumerate() {
        add_block(&mut events, at, block, scripted);
    }
    let mut delta = json!({"stop_reason": body["stop_reason"], "stop_sequence": null});
    if let Some(details) = body.get("stop_details") {
        delta["stop_details"] = details.clone();
    }
    let mut end = json!({"type": "message_delta", "delta": delta});
    if let Some(usage) = body.get("usage") {
        end["usage"] = usage.clone();
    }
    events.extend([end, json!({"type": "message_stop"})]);
    events.iter().map(written).collect()
}

fn add_block(events: &mut Vec<Value>, at: usize, block: &Value, scripted: Option<&[String]>) {
    let mut begun = block.clone();
    let mut deltas = Vec::new();
    match word(block, "type") {
        "thinking" => {
            begun["thinking"] = json!("");
            begun["signature"] = json!("");
            deltas.extend(
                pieces(word(block, "thinking"))
                    .into_iter()
                    .map(|text| json!({"type": "thinking_delta", "thinking": text})),
            );
            deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
        }
        "tool_use" => {
            begun["input"] = json!({});
            let input = match &block["input"] {
                Value::String(text) => text.clone(),
                input => input.to_string(),
            };
            deltas.extend(
                pieces(&input)
                    .into_iter()
                    .map(|text| json!({"type": "input_json_delta", "partial_json": text})),
            );
        }
        _ => {
            begun["text"] = json!("");
            let text = scripted.map_or_else(|| pieces(word(block, "text")), <[String]>::to_vec);
            deltas.extend(
                text.into_iter()
                    .map(|text| json!({"type": "text_delta", "text": text})),
            );
        }
    }
    events.push(json!({"type": "content_block_start", "index": at, "content_block": begun}));
    events.extend(
        deltas
            .into_iter()
            .map(|delta| json!({"type": "content_block_delta", "index": at, "delta": delta})),
    );
    events.push(json!({"type": "content_block_stop", "index": at}));
}

fn written(event: &Value) -> Vec<u8> {
    format!("event: {}\ndata: {event}\n\n", word(event, "type")).into_bytes()
}
