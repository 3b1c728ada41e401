//! A field and its type.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// An input or an output of a node with a goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: Value,
}

impl Field {
    pub(crate) fn new(name: &str, description: &str, schema: Value) -> Self {
        Field {
            name: name.to_owned(),
            description: description.to_owned(),
            schema,
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what the model reads about it; empty if there is no description.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the JSON schema of its type.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    pub(crate) fn is_text(&self) -> bool {
        self.schema.get("type").is_some_and(|kind| kind == "string")
            && self.schema.get("enum").is_none()
            && self.schema.get("const").is_none()
    }
}

/// Subschemas are inlined, since a field is shown by itself.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    clean(&mut schema);
    schema
}

/// Removes validators' marks, which are not part of the type.
fn clean(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.retain(|name, _| !name.starts_with("x-llmnode"));
            members.values_mut().for_each(clean);
        }
        Value::Array(items) => items.iter_mut().for_each(clean),
        _ => {}
    }
}

/// `None`: not an object with known members.
pub(crate) fn members(schema: &Value) -> Option<Vec<Field>> {
    let members = schema
        .get("properties")?
        .as_object()
        .filter(|members| !members.is_empty())?;
    let definitions = schema.get("$defs");
    Some(
        members
            .iter()
            .map(|(name, schema): (&String, &Value)| {
                let mut schema = schema.clone();
                let description = schema
                    .get("description")
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned();
                if let Some(schema) = schema.as_object_mut() {
                    schema.retain(|keyword, _| keyword != "description");
                }
                if let (Some(definitions), Some(schema)) = (definitions, schema.as_object_mut()) {
                    schema.insert("$defs".to_owned(), definitions.clone());
                }
                Field::new(name, &description, schema)
            })
            .collect(),
    )
}

/// For comparisons.
pub(crate) fn without_annotations(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let mut kept: Vec<_> = members
                .iter()
                .filter(|(name, value)| {
                    !matches!(name.as_str(), "description" | "title" | "examples")
                        || value.is_object()
                })
                .map(|(name, value)| (name.clone(), without_annotations(value)))
                .collect();
            kept.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(kept.into_iter().collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_annotations).collect()),
        other => other.clone(),
    }
}
