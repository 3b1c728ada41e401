//! An answer in pieces, each of which has the form of a whole one.

use serde_json::{Value, json};

use crate::model_answer::{list, pieces};

/// `scripted`: the pieces of the text, if the reply has its own.
pub(crate) fn events(body: &Value, scripted: Option<&[String]>) -> Vec<Value> {
    let mut events = Vec::new();
    let candidate = body["candidates"].get(0);
    for part in candidate.map_or(&[][..], |candidate| list(&candidate["content"]["parts"])) {
        events.extend(
            part_in_pieces(part, scripted)
                .into_iter()
                .map(|part| with_part(body, part)),
        );
    }
    let mut last = events.pop().unwrap_or_else(|| body.clone());
    if let Some(candidate) = candidate {
        for name in ["finishReason", "finishMessage"] {
            if let Some(value) = candidate.get(name) {
                last["candidates"][0][name] = value.clone();
            }
        }
    }
    if let Some(usage) = body.get("usageMetadata") {
        last["usageMetadata"] = usage.clone();
    }
    events.push(last);
    events
}

fn with_part(body: &Value, part: Value) -> Value {
    let content = json!({"role": "model", "parts": [part]});
    json!({
        "candidates": [{"index": 0, "content": content}],
        "modelVersion": body["modelVersion"],
        "responseId": body["responseId"],
    })
}

/// What stands beside a text goes with its last piece.
fn part_in_pieces(part: &Value, scripted: Option<&[String]>) -> Vec<Value> {
    let Some(text) = part.get("text").and_then(Value::as_str) else {
        return vec![part.clone()];
    };
    let is_thought = part["thought"] == true;
    let scripted = scripted.filter(|_| !is_thought);
    let texts = scripted.map_or_else(|| pieces(text), <[String]>::to_vec);
    let mut parts: Vec<Value> = texts.iter().map(|text| json!({"text": text})).collect();
    for piece in &mut parts {
        if is_thought {
            piece["thought"] = json!(true);
        }
    }
    if let (Some(signature), Some(last)) = (part.get("thoughtSignature"), parts.last_mut()) {
        last["thoughtSignature"] = signature.clone();
    }
    parts
}
