//! What is read from a text that a model wrote.

use llmnode::Reader;
use serde_json::{Value, json};

/// The answer to one row, or `None` if the row has no text.
pub(crate) fn answer(row: &Value) -> Option<Value> {
    let text = row["input"].as_str()?;
    let id = &row["id"];
    if row.get("target").is_some_and(|target| !target.is_null()) {
        return Some(json!({"id": id, "error": "unsupported: rows with a `target`"}));
    }
    let repair = row["mode"] != "strict";
    Some(match Reader::new().repair(repair).value(text) {
        Ok(reading) => {
            let flags: Vec<_> = reading.notes.iter().map(|note| json!(note.flag)).collect();
            json!({"id": id, "value": reading.value, "flags": flags})
        }
        Err(error) => json!({"id": id, "error": error.to_string()}),
    })
}
