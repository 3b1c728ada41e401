//! Answers made from a request: a value that its JSON schema allows, or a short text.

use serde_json::{Value, json};

use super::sample::sample;

/// How much of the request a text answer repeats, in characters.
const QUOTED: usize = 60;

/// The text of the answer to a request with this body. `Err`: what keeps it from being made.
pub(super) fn answer(body: &Value, messages: &[(String, String)]) -> Result<String, String> {
    let format = &body["response_format"];
    let told = schema_in_system_message(messages);
    let sent = || format["json_schema"].get("schema").or_else(|| parameters(body));
    if let Some(schema) = sent().or(told.as_ref()) {
        return sample(schema).map(|value| value.to_string());
    }
    let last = messages.last().map_or("", |(_, text)| text.trim());
    let quoted: String = last.chars().take(QUOTED).collect();
    let text = format!("Stub answer to: {quoted}");
    Ok(if format["type"] == "json_object" { json!({ "answer": text }).to_string() } else { text })
}

/// The function that the model has to call.
pub(super) fn forced_function(body: &Value) -> Option<&str> {
    body.pointer("/tool_choice/function/name")?.as_str()
}

/// What that function is called with.
fn parameters(body: &Value) -> Option<&Value> {
    let name = forced_function(body)?;
    let mut functions = body["tools"].as_array()?.iter().map(|tool| &tool["function"]);
    functions.find(|function| function["name"] == name)?.get("parameters")
}

/// The schema that ends the system message.
fn schema_in_system_message(messages: &[(String, String)]) -> Option<Value> {
    let (_, system) = messages.iter().find(|(role, _)| role == "system")?;
    let (before, last) = system.rsplit_once('\n')?;
    let schema = before.contains("JSON Schema").then(|| serde_json::from_str(last).ok())?;
    schema.filter(Value::is_object)
}
