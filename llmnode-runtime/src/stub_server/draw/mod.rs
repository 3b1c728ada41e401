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
    if let Some(schema) = format["json_schema"].get("schema") {
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

/// A value that `schema` admits.
fn value(schema: &Value, rng: Rng) -> Value {
    Drawer::new(schema, rng).value(schema)
}

#[cfg(test)]
pub(super) fn value_for_test(schema: &Value, seed: u64) -> Value {
    value(schema, Rng::from_parts(&[seed.to_string()]))
}
