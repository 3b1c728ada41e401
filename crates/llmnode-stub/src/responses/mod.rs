//! OpenAI's Responses: what a request asks for, and the forms of its answer, its stream and its errors.

mod events;

pub(super) use events::events;

use serde_json::{Value, json};

use super::counts::TokenCounts;
use super::model_answer::{AnswerShape, CREATED, Call, Envelope, ModelAnswer, list, text_of, word};

/// Calls and other items without a role are left out, but for results.
pub(super) fn conversation(body: &Value) -> Vec<(String, String)> {
    let system = body.get("instructions").and_then(Value::as_str);
    let mut turns: Vec<(String, String)> = system
        .map(|text| ("system".to_owned(), text.to_owned()))
        .into_iter()
        .collect();
    if let Some(text) = body["input"].as_str() {
        turns.push(("user".to_owned(), text.to_owned()));
    }
    for item in list(&body["input"]) {
        match (word(item, "role"), word(item, "type")) {
            ("", "function_call_output") => {
                turns.push(("tool".to_owned(), text_of(item.get("output"))));
            }
            ("", "function_call") => turns.push(("assistant".to_owned(), String::new())),
            ("", _) => {}
            (role, _) => turns.push((role.to_owned(), text_of(item.get("content")))),
        }
    }
    turns
}

pub(super) fn answer_shape(body: &Value) -> AnswerShape<'_> {
    let format = &body["text"]["format"];
    let choice = &body["tool_choice"];
    let forced = (choice["type"] == "function").then(|| word(choice, "name"));
    AnswerShape {
        schema: format.get("schema"),
        is_json: format["type"] == "json_object",
        function: forced.map(|name| (name, parameters(body, name))),
        limit: body["max_output_tokens"].as_u64(),
    }
}

/// `answer`: `None` is an answer without any item.
pub(super) fn body(answer: Option<&ModelAnswer>, around: &Envelope<'_>) -> Value {
    let finish = answer.map_or("stop", |answer| &*answer.finish);
    let (status, details) = match finish {
        "stop" | "tool_calls" => ("completed", Value::Null),
        "length" => ("incomplete", json!({"reason": "max_output_tokens"})),
        "content_filter" => ("incomplete", json!({"reason": "content_filter"})),
        other => (other, Value::Null),
    };
    let mut body = json!({
        "id": format!("resp_{}", around.id),
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": null,
        "incomplete_details": details,
        "model": around.model,
        "output": answer.map(|answer| items(answer, around)).unwrap_or_default(),
    });
    if let Some(usage) = around.usage.json(usage) {
        body["usage"] = usage;
    }
    body
}

fn items(answer: &ModelAnswer, around: &Envelope<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    if let Some(reasoning) = &answer.reasoning {
        items.push(json!({
            "type": "reasoning",
            "id": format!("rs_{}", around.id),
            "summary": [{"type": "summary_text", "text": reasoning}],
            "encrypted_content": around.signature,
        }));
    }
    let text = answer
        .content
        .iter()
        .map(|text| json!({"type": "output_text", "text": text, "annotations": []}));
    let refusal = answer
        .refusal
        .iter()
        .map(|text| json!({"type": "refusal", "refusal": text}));
    let content: Vec<Value> = text.chain(refusal).collect();
    if !content.is_empty() || answer.calls.is_empty() {
        items.push(json!({
            "type": "message",
            "id": format!("msg_{}", around.id),
            "status": "completed",
            "role": "assistant",
            "content": content,
        }));
    }
    items.extend(answer.calls.iter().map(call));
    items
}

fn call(call: &Call) -> Value {
    json!({
        "type": "function_call",
        "id": format!("fc_{}", call.id),
        "call_id": call.id,
        "name": call.name,
        "arguments": call.arguments,
        "status": "completed",
    })
}

fn usage(counts: TokenCounts) -> Value {
    json!({
        "input_tokens": counts.prompt,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": counts.completion,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": counts.total,
    })
}

fn parameters<'b>(body: &'b Value, name: &str) -> Option<&'b Value> {
    list(&body["tools"])
        .iter()
        .find(|tool| tool["name"] == name)?
        .get("parameters")
}
