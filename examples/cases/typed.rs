//! Rows with a `target`: a type in BAML's words, as which the text is read as a node reads its output.

use llmnode::{OutputSchema, Reader};
use serde_json::{Value, json};

mod grammar;
mod project;
mod schema;

use grammar::Type;
use schema::Types;

/// The value of a type and what was done to read it, or why there is none.
pub(crate) fn answer(
    text: &str,
    target: &str,
    types: &Value,
) -> Result<(Value, Vec<Value>), String> {
    let types = Types::of(types);
    let target = Type::parse(target)
        .filter(|target| types.knows(target))
        .ok_or("unsupported: the target is no type")?;
    if let Some(text) = raw_text(text, &target) {
        return Ok((text, vec![json!("raw_text")]));
    }
    let schema = OutputSchema::from_value("target", types.schema(&target));
    let reading = Reader::new()
        .conforming(text, &schema)
        .map_err(|error| error.to_string())?;
    let value = project::value(&types, &target, &reading.value)?;
    Ok((
        value,
        reading
            .repairs
            .iter()
            .map(|repair| json!(repair.flag))
            .collect(),
    ))
}

/// A text that is wanted as text is taken as it is, as a node with raw output does; only JSON's null is none.
fn raw_text(text: &str, target: &Type) -> Option<Value> {
    match target {
        Type::String => Some(json!(text)),
        Type::Union(forms) => {
            let is_text = forms
                .iter()
                .all(|form| matches!(form, Type::String | Type::Null));
            let is_null = text.trim() == "null";
            is_text.then(|| if is_null { Value::Null } else { json!(text) })
        }
        _ => None,
    }
}
