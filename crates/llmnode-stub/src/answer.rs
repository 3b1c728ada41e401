//! Answers made from a request: a value that its JSON schema allows, or a short text.

use serde_json::{Value, json};

use super::form::filled;
use super::model_answer::AnswerShape;
use super::sample::sample;

/// Characters of the request that a text answer repeats.
const QUOTED: usize = 60;

pub(super) fn answer(
    shape: &AnswerShape<'_>,
    messages: &[(String, String)],
) -> Result<String, String> {
    let told = schema_in_system_message(messages);
    let parameters = shape.function.and_then(|(_, parameters)| parameters);
    if let Some(schema) = shape.schema.or(parameters).or(told.as_ref()) {
        return sample(schema).map(|value| value.to_string());
    }
    if let Some(value) = system_message(messages).and_then(filled) {
        return Ok(value.to_string());
    }
    let last = messages.last().map_or("", |(_, text)| text.trim());
    let quoted: String = last.chars().take(QUOTED).collect();
    let text = format!("Stub answer to: {quoted}");
    Ok(if shape.is_json {
        json!({ "answer": text }).to_string()
    } else {
        text
    })
}

fn system_message(messages: &[(String, String)]) -> Option<&str> {
    messages
        .iter()
        .find(|(role, _)| role == "system")
        .map(|(_, text)| text.as_str())
}

/// On its last line.
fn schema_in_system_message(messages: &[(String, String)]) -> Option<Value> {
    let (before, last) = system_message(messages)?.rsplit_once('\n')?;
    let schema = before
        .contains("JSON Schema")
        .then(|| serde_json::from_str(last).ok())?;
    schema.filter(Value::is_object)
}
