//! What is read from a text that a model wrote.

use llmnode::Reader;
use serde_json::{Value, json};

use crate::typed;

/// The answer to one row, or `None` if the row has no text.
pub(crate) fn answer(row: &Value) -> Option<Value> {
    let text = row["input"].as_str()?;
    let id = &row["id"];
    let exact = row["mode"] == "strict";
    let read = match row["target"].as_str() {
        Some(target) => typed::answer(text, target, &row["types"]),
        None => match Reader::new().exact(exact).value(text) {
            Ok(reading) => Ok((
                reading.value,
                reading
                    .repairs
                    .iter()
                    .map(|repair| json!(repair.flag))
                    .collect(),
            )),
            Err(error) => Err(error.to_string()),
        },
    };
    Some(match read {
        Ok((value, flags)) => json!({"id": id, "value": value, "flags": flags}),
        Err(error) => json!({"id": id, "error": error}),
    })
}
