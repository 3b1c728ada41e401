//! Google's `generateContent`: what a request asks for, and the forms of its answer, its stream and its errors.

mod events;

pub(super) use events::events;

use serde_json::{Value, json};

use super::counts::TokenCounts;
use super::model_answer::{AnswerShape, Call, Envelope, ModelAnswer, list, word};

/// With the roles of the other APIs: `assistant` for `model`, and `tool` for a function's response.
pub(super) fn conversation(body: &Value) -> Vec<(String, String)> {
    let mut turns = Vec::new();
    if let Some(system) = body.get("systemInstruction") {
        turns.push(("system".to_owned(), texts(&system["parts"])));
    }
    for content in list(&body["contents"]) {
        let parts = list(&content["parts"]);
        let results = parts.iter().filter_map(|part| part.get("functionResponse"));
        turns.extend(results.map(|result| ("tool".to_owned(), outcome(&result["response"]))));
        let role = if word(content, "role") == "model" {
            "assistant"
        } else {
            "user"
        };
        if parts
            .iter()
            .any(|part| part.get("functionResponse").is_none())
        {
            turns.push((role.to_owned(), texts(&content["parts"])));
        }
    }
    turns
}

fn texts(parts: &Value) -> String {
    list(parts)
        .iter()
        .filter_map(
            |part: &Value| match part.get("text").and_then(Value::as_str) {
                Some(text) => Some(text.to_owned()),
                None if part.get("inlineData").is_some() => Some("[inlineData]".to_owned()),
                None if part.get("fileData").is_some() => Some("[fileData]".to_owned()),
                None => None,
            },
        )
        .collect::<Vec<_>>()
        .join("\n")
}

fn outcome(response: &Value) -> String {
    let output = response
        .get("output")
        .or_else(|| response.get("error"))
        .unwrap_or(response);
    output
        .as_str()
        .map_or_else(|| output.to_string(), str::to_owned)
}

pub(super) fn answer_shape(body: &Value) -> AnswerShape<'_> {
    let config = &body["generationConfig"];
    let calling = &body["toolConfig"]["functionCallingConfig"];
    let allowed = list(&calling["allowedFunctionNames"]);
    let forced = match (word(calling, "mode"), allowed) {
        ("ANY", [one]) => one.as_str(),
        _ => None,
    };
    AnswerShape {
        schema: config
            .get("responseJsonSchema")
            .or_else(|| config.get("responseSchema")),
        is_json: config["responseMimeType"] == "application/json",
        function: forced.map(|name| (name, parameters(body, name))),
        limit: config["maxOutputTokens"].as_u64(),
    }
}

/// `answer`: `None` is an answer without any candidate.
pub(super) fn body(answer: Option<&ModelAnswer>, around: &Envelope<'_>) -> Value {
    let candidates: Vec<Value> = answer
        .map(|answer| candidate(answer, around))
        .into_iter()
        .collect();
    let mut body =
        json!({"candidates": candidates, "modelVersion": around.model, "responseId": around.id});
    if let Some(usage) = around.usage.json(usage) {
        body["usageMetadata"] = usage;
    }
    body
}

fn candidate(answer: &ModelAnswer, around: &Envelope<'_>) -> Value {
    let finish = match &*answer.finish {
        _ if answer.refusal.is_some() => "SAFETY",
        "stop" | "tool_calls" => "STOP",
        "length" => "MAX_TOKENS",
        "content_filter" => "SAFETY",
        other => other,
    };
    let content = json!({"role": "model", "parts": parts(answer, around)});
    let mut candidate = json!({"index": 0, "content": content, "finishReason": finish});
    if let Some(refusal) = &answer.refusal {
        candidate["finishMessage"] = json!(refusal);
    }
    candidate
}

/// A signature stands on the first call, or on the text if there is none.
fn parts(answer: &ModelAnswer, around: &Envelope<'_>) -> Vec<Value> {
    let thought = answer
        .reasoning
        .iter()
        .map(|text| json!({"text": text, "thought": true}));
    let text = answer
        .content
        .iter()
        .filter(|text| !text.is_empty())
        .map(|text| json!({"text": text}));
    let mut parts: Vec<Value> = thought
        .chain(text)
        .chain(answer.calls.iter().map(call))
        .collect();
    let signed = parts
        .iter()
        .position(|part| part.get("functionCall").is_some());
    let signed = signed.or_else(|| parts.len().checked_sub(1));
    if let Some(at) = signed
        && answer.reasoning.is_some()
    {
        parts[at]["thoughtSignature"] = json!(around.signature);
    }
    parts
}

fn call(call: &Call) -> Value {
    json!({"functionCall": {"id": call.id, "name": call.name, "args": call.object()}})
}

fn usage(counts: TokenCounts) -> Value {
    json!({
        "promptTokenCount": counts.prompt,
        "candidatesTokenCount": counts.completion,
        "totalTokenCount": counts.total,
    })
}

/// OpenAI's kind of error is replaced by the one that Google has for the status.
pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        400..=499 => "INVALID_ARGUMENT",
        501 => "UNIMPLEMENTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        _ => "INTERNAL",
    };
    json!({"error": {"code": status, "message": message, "status": kind}})
}

pub(super) fn models(ids: &[String]) -> Value {
    json!({"models": ids.iter().map(|id: &String| json!({"name": format!("models/{id}"), "displayName": id})).collect::<Vec<_>>()})
}

fn parameters<'b>(body: &'b Value, name: &str) -> Option<&'b Value> {
    let mut functions = list(&body["tools"])
        .iter()
        .flat_map(|tool| list(&tool["functionDeclarations"]));
    let function = functions.find(|function| function["name"] == name)?;
    function
        .get("parametersJsonSchema")
        .or_else(|| function.get("parameters"))
}
