//! Answers drawn from a request: a value that its JSON schema admits, or a short text.

mod drawer;
mod height;
mod keywords;
mod merge;
mod number;
mod pattern;
mod rng;
mod string;

use serde_json::{Value, json};

use drawer::Drawer;
use rng::Rng;

/// How much of the request a text answer repeats, in characters.
const QUOTED: usize = 60;

/// The text of the answer to a request with this body. `vary`: it depends on the messages too, not only on the
/// seed and the schema.
pub(super) fn answer(body: &Value, messages: &[(String, String)], vary: bool) -> String {
    let format = &body["response_format"];
    let seed = body["seed"].to_string();
    let told = told_schema(messages);
    let sent = || format["json_schema"].get("schema").or_else(|| parameters(body));
    if let Some(schema) = sent().or(told.as_ref()) {
        let mut hashed = vec![seed, schema.to_string()];
        if vary {
            hashed.extend(messages.iter().map(|(role, text)| format!("{role}\n{text}")));
        }
        return value(schema, Rng::from_parts(&hashed)).to_string();
    }
    let last = messages.last().map_or("", |(_, text)| text.trim());
    let quoted: String = last.chars().take(QUOTED).collect();
    let text = format!("Stub answer to: {quoted}");
    if format["type"] == "json_object" { json!({ "answer": text }).to_string() } else { text }
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
fn told_schema(messages: &[(String, String)]) -> Option<Value> {
    let (_, system) = messages.iter().find(|(role, _)| role == "system")?;
    let (before, last) = system.rsplit_once('\n')?;
    let schema = before.contains("JSON Schema").then(|| serde_json::from_str(last).ok())?;
    schema.filter(Value::is_object)
}

/// A value that `schema` admits.
fn value(schema: &Value, rng: Rng) -> Value {
    Drawer::new(schema, rng).value(schema)
}

#[cfg(test)]
pub(super) fn value_for_test(schema: &Value, seed: u64) -> Value {
    value(schema, Rng::from_parts(&[seed.to_string()]))
}
