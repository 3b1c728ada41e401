//! The marks that types with validators leave in their JSON schemas.
//!
//! A type's traversal is checked against them: a marked type that it misses would
//! not be validated, and nobody would notice.

use std::borrow::Cow;
use std::cell::Cell;

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The schema keyword that holds the mark of a type with validators. It is never sent.
pub const MARK: &str = "x-llmnode-validated";

/// The schema of a type, with the marks in it.
pub fn schema_with_marks<T: JsonSchema + ?Sized>() -> Value {
    schema_of(Described {
        name: T::schema_name,
        id: T::schema_id,
        schema: T::json_schema,
    })
}

/// Not generic: schemars' generator would be compiled for every type.
fn schema_of(described: Described) -> Value {
    let around = DESCRIBED.replace(Some(described));
    let schema = generator().into_root_schema_for::<Root>();
    DESCRIBED.set(around);
    schema.to_value()
}

/// What the generator asks a type.
#[derive(Clone, Copy)]
struct Described {
    name: fn() -> Cow<'static, str>,
    id: fn() -> Cow<'static, str>,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

thread_local! {
    /// The type that `Root` stands for.
    static DESCRIBED: Cell<Option<Described>> = const { Cell::new(None) };
}

/// Stands for a type that is not known here. It has the type's id, so that a type that
/// contains itself refers to the root.
struct Root;

impl JsonSchema for Root {
    fn schema_name() -> Cow<'static, str> {
        DESCRIBED
            .get()
            .map_or_else(Cow::default, |described| (described.name)())
    }

    fn schema_id() -> Cow<'static, str> {
        DESCRIBED
            .get()
            .map_or_else(Cow::default, |described| (described.id)())
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        match DESCRIBED.get() {
            Some(described) => (described.schema)(generator),
            None => Schema::default(),
        }
    }
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
