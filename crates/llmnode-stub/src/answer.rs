//! Answers made from a request: a value that its JSON schema allows, or a short text.

use serde_json::{Value, json};

use super::form::filled;
use super::sample::sample;

/// Characters of the request that a text answer repeats.
const QUOTED: usize = 60;

pub(super) fn answer(body: &Value, messages: &[(String, String)]) -> Result<String, String> {
    let format = &body["response_format"];
    let told = schema_in_system_message(messages);
    let sent = || format["json_schema"].get("schema").or_else(|| parameters(body));
    if let Some(schema) = sent().or(told.as_ref()) {
        return sample(schema).map(|value| value.to_string());
    }
    if let Some(value) = system_message(messages).and_then(filled) {
        return Ok(value.to_string());
    }
    let last = messages.last().map_or("", |(_, text)| text.trim());
    let quoted: String = last.chars().take(QUOTED).collect();
    let text = format!("Stub answer to: {quoted}");
    Ok(if format["type"] == "json_object" { json!({ "answer": text }).to_string() } else { text })
}

pub(super) fn forced_function(body: &Value) -> Option<&str> {
    body.pointer("/tool_choice/function/name")?.as_str()
}

fn parameters(body: &Value) -> Option<&Value> {
    let name = forced_function(body)?;
    let mut functions = body["tools"].as_array()?.iter().map(|tool| &tool["function"]);
    functions.find(|function| function["name"] == name)?.get("parameters")
}

fn system_message(messages: &[(String, String)]) -> Option<&str> {
    messages.iter().find(|(role, _)| role == "system").map(|(_, text)| text.as_str())
}

/// On its last line.
fn schema_in_system_message(messages: &[(String, String)]) -> Option<Value> {
    let (before, last) = system_message(messages)?.rsplit_once('\n')?;
    let schema = before.contains("JSON Schema").then(|| serde_json::from_str(last).ok())?;
    schema.filter(Value::is_object)
}
