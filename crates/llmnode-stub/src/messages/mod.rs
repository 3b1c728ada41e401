//! Anthropic's Messages: what a request asks for, and the forms of its answer, its stream and its errors.

mod events;

pub(super) use events::events;

use serde_json::{Value, json};

use super::counts::TokenCounts;
use super::model_answer::{AnswerShape, Call, Envelope, ModelAnswer, list, text_of, word};

/// Results of tools are messages of their own, as in the other APIs.
pub(super) fn conversation(body: &Value) -> Vec<(String, String)> {
    let mut turns = Vec::new();
    if let Some(system) = body.get("system") {
        turns.push(("system".to_owned(), text_of(Some(system))));
    }
    for message in list(&body["messages"]) {
        let role = word(message, "role").to_owned();
        let blocks = list(&message["content"]);
        let results = blocks.iter().filter(|block| block["type"] == "tool_result");
        turns.extend(results.map(|result| ("tool".to_owned(), text_of(result.get("content")))));
        let others: Vec<Value> = blocks
            .iter()
            .filter(|block: &&Value| {
                !matches!(word(block, "type"), "tool_result" | "tool_use" | "thinking")
            })
            .cloned()
            .collect();
        if message["content"].is_string() {
            turns.push((role, text_of(message.get("content"))));
        } else if !others.is_empty() || role == "assistant" {
            turns.push((role, text_of(Some(&Value::from(others)))));
        }
    }
    turns
}

pub(super) fn answer_shape(body: &Value) -> AnswerShape<'_> {
    let choice = &body["tool_choice"];
    let forced = (choice["type"] == "tool").then(|| word(choice, "name"));
    AnswerShape {
        schema: body["output_config"]["format"].get("schema"),
        is_json: false,
        function: forced.map(|name| (name, parameters(body, name))),
        limit: body["max_tokens"].as_u64(),
    }
}

/// `answer`: `None` is an answer without any block.
pub(super) fn body(answer: Option<&ModelAnswer>, around: &Envelope<'_>) -> Value {
    let stop = answer.map_or("end_turn", |answer| match &*answer.finish {
        _ if answer.refusal.is_some() => "refusal",
        "stop" if answer.calls.is_empty() => "end_turn",
        "stop" | "tool_calls" => "tool_use",
        "length" => "max_tokens",
        "content_filter" => "refusal",
        other => other,
    });
    let mut body = json!({
        "id": format!("msg_{}", around.id),
        "type": "message",
        "role": "assistant",
        "model": around.model,
        "content": answer.map(|answer| blocks(answer, around)).unwrap_or_default(),
        "stop_reason": stop,
        "stop_sequence": null,
    });
    if stop == "refusal" {
        let why = answer
            .and_then(|answer| answer.refusal.as_deref())
            .unwrap_or_default();
        body["stop_details"] = json!({"type": "refusal", "category": null, "explanation": why});
    }
    if let Some(usage) = around.usage.json(usage) {
        body["usage"] = usage;
    }
    body
}

fn blocks(answer: &ModelAnswer, around: &Envelope<'_>) -> Vec<Value> {
    let text = answer.content.iter().filter(|text| !text.is_empty());
    let text = text.map(|text| json!({"type": "text", "text": text}));
    answer.reasoning
        .iter()
        .map(|text: &String| json!({"type": "thinking", "thinking": text, "signature": around.signature}))
        .chain(text)
        .chain(answer.calls.iter().map(call))
        .collect()
}

fn call(call: &Call) -> Value {
    json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.object()})
}

fn usage(counts: TokenCounts) -> Value {
    json!({"input_tokens": counts.prompt, "output_tokens": counts.completion})
}

/// OpenAI's kind of error is replaced by the one that Anthropic has for the status.
pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        400..=499 => "invalid_request_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": null})
}

pub(super) fn models(ids: &[String]) -> Value {
    let created = "2025-01-01T00:00:00Z";
    let data: Vec<Value> = ids.iter().map(|id: &String| json!({"type": "model", "id": id, "display_name": id, "created_at": created})).collect();
    json!({"data": data, "first_id": ids.first(), "last_id": ids.last(), "has_more": false})
}

fn parameters<'b>(body: &'b Value, name: &str) -> Option<&'b Value> {
    list(&body["tools"])
        .iter()
        .find(|tool| tool["name"] == name)?
        .get("input_schema")
}
