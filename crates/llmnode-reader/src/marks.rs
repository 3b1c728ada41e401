//! The marks that types with validators leave in their JSON schemas.

use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::Value;

/// The schema keyword that holds the mark of a type with validators. It is never sent.
pub const MARK: &str = "x-llmnode-validated";

/// The schema of a type, with the marks in it.
pub fn schema_with_marks<T: JsonSchema + ?Sized>() -> Value {
    generator().into_root_schema_for::<T>().to_value()
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12()
        .with(|s| s.meta_schema = None)
        .for_deserialize()
        .into_generator()
}

/// The marks in a schema.
pub fn marks_of(schema: &Value) -> Vec<String> {
    let mut marks = Vec::new();
    collect(schema, &mut marks);
    marks
}

fn collect(part: &Value, marks: &mut Vec<String>) {
    match part {
        Value::Object(members) => {
            if let Some(Value::String(mark)) = members.get(MARK)
                && !marks.contains(mark)
            {
                marks.push(mark.clone());
            }
            members.values().for_each(|member| collect(member, marks));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, marks)),
        _ => {}
    }
}
