//! The marks that types with validators leave in their JSON schemas.
//!
//! A type's traversal is checked against them: a marked type that it misses would
//! not be validated, and nobody would notice.

use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::Value;

/// The schema keyword that holds the mark of a type with validators. It is never sent.
pub const MARK: &str = "x-llmnode-validated";

/// The schema of a type, with the marks in it.
pub fn schema_with_marks<T: JsonSchema + ?Sized>() -> Value {
    generator().into_root_schema_for::<T>().to_value()
}

/// Of what is read, not of what is written: serde may have other names for the two.
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
            for member in members.values() {
                collect(member, marks);
            }
        }
        Value::Array(items) => {
            for item in items {
                collect(item, marks);
            }
        }
        _ => {}
    }
}
