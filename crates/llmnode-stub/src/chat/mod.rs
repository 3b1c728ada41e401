//! OpenAI's chat completions: what a request asks for, and the forms of its answer, its stream and its errors.

mod events;

pub(super) use events::events;

use serde_json::{Value, json};

use super::counts::TokenCounts;
use super::model_answer::{AnswerShape, CREATED, Call, Envelope, ModelAnswer, list, text_of, word};

pub(super) fn conversation(body: &Value) -> Vec<(String, String)> {
    list(&body["messages"])
        .iter()
        .map(|message: &Value| {
            (
                word(message, "role").to_owned(),
                text_of(message.get("content")),
            )
        })
        .collect()
}

pub(super) fn answer_shape(body: &Value) -> AnswerShape<'_> {
    let format = &body["response_format"];
    let forced = body
        .pointer("/tool_choice/function/name")
        .and_then(Value::as_str);
    AnswerShape {
        schema: format["json_schema"].get("schema"),
        is_json: format["type"] == "json_object",
        function: forced.map(|name| (name, parameters(body, name))),
        limit: ["max_completion_tokens", "max_tokens"]
            .iter()
            .find_map(|name| body.get(name)?.as_u64()),
    }
}

/// `answer`: `None` is an answer without any choice.
pub(super) fn body(answer: Option<&ModelAnswer>, around: &Envelope<'_>) -> Value {
    let choices: Vec<Value> = answer.map(choice).into_iter().collect();
    let mut body = json!({
        "id": format!("chatcmpl-{}", around.id),
        "object": "chat.completion",
        "created": CREATED,
        "model": around.model,
        "choices": choices,
    });
    if let Some(usage) = around.usage.json(usage) {
        body["usage"] = usage;
    }
    body
}

fn choice(answer: &ModelAnswer) -> Value {
    let mut message =
        json!({"role": "assistant", "content": answer.content, "refusal": answer.refusal});
    if let Some(reasoning) = &answer.reasoning {
        message["reasoning_content"] = json!(reasoning);
    }
    if !answer.calls.is_empty() {
        message["tool_calls"] = answer.calls.iter().map(call).collect();
    }
    json!({"index": 0, "message": message, "logprobs": null, "finish_reason": answer.finish})
}

fn call(call: &Call) -> Value {
    let function = json!({"name": call.name, "arguments": call.arguments});
    json!({"id": call.id, "type": "function", "function": function})
}

fn usage(counts: TokenCounts) -> Value {
    json!({
        "prompt_tokens": counts.prompt,
        "completion_tokens": counts.completion,
        "total_tokens": counts.total,
    })
}

pub(super) fn error(kind: &str, code: &Value, message: &str) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

pub(super) fn models(ids: &[String]) -> Value {
    json!({"object": "list", "data": ids.iter().map(|id: &String| json!({"id": id, "object": "model", "created": 0, "owned_by": "stub"})).collect::<Vec<_>>()})
}

fn parameters<'b>(body: &'b Value, name: &str) -> Option<&'b Value> {
    let mut functions = list(&body["tools"]).iter().map(|tool| &tool["function"]);
    functions
        .find(|function| function["name"] == name)?
        .get("parameters")
}
