//! Whether a schema that comes from elsewhere can be written for models at all.
//!
//! Keywords that only narrow a value and are malformed are left out when a schema is written. Those that give it its shape
//! cannot be: a tool whose parameters nobody knows is better not offered.

use serde_json::Value;

use super::depth::MAX_DEPTH;
use crate::text::one_line;
use crate::tree::Node;

const TYPES: [&str; 7] = [
    "null", "boolean", "integer", "number", "string", "array", "object",
];
const MOST_SHOWN: usize = 60;

/// Says why it cannot, with the place.
pub(super) fn fault(schema: &Value) -> Option<String> {
    Place { up: None, step: "" }.schema(schema, 0)
}

/// Says why the schema of a server's tool cannot be sent, with the place. The arguments of a tool are an object.
pub fn fault_of_parameters(schema: &Value) -> Option<String> {
    let Some(root) = schema.as_object() else {
        return Some(format!(
            "its schema is {}, must be an object",
            shown(schema)
        ));
    };
    match root
        .get("type")
        .and_then(Value::as_str)
        .filter(|kind| *kind != "object" && TYPES.contains(kind))
    {
        Some(kind) => Some(format!("`type` is {kind:?}, and arguments are an object")),
        None => fault(schema),
    }
}

#[derive(Clone, Copy)]
struct Place<'p> {
    up: Option<&'p Place<'p>>,
    step: &'p str,
}

impl<'p> Place<'p> {
    fn at(&'p self, step: &'p str) -> Place<'p> {
        Place {
            up: Some(self),
            step,
        }
    }

    fn path(&self) -> String {
        let before = self.up.map(Place::path).unwrap_or_default();
        match before.is_empty() {
            true => one_line(self.step, MOST_SHOWN),
            false => format!("{before}.{}", one_line(self.step, MOST_SHOWN)),
        }
    }

    fn is(&self, value: &Value, wanted: &str) -> Option<String> {
        Some(format!(
            "`{}` is {}, must be {wanted}",
            self.path(),
            shown(value)
        ))
    }

    /// What is deeper is not written.
    fn schema(&self, schema: &Value, depth: usize) -> Option<String> {
        match schema {
            Value::Object(node) if depth <= MAX_DEPTH => node
                .iter()
                .find_map(|(keyword, value)| self.at(keyword).keyword(keyword, value, depth + 1)),
            Value::Object(_) | Value::Bool(_) => None,
            _ => self.is(schema, "a schema"),
        }
    }

    fn keyword(&self, keyword: &str, value: &Value, depth: usize) -> Option<String> {
        match keyword {
            "type" => self.kind(value),
            "properties" | "patternProperties" | "$defs" | "definitions" => match value {
                Value::Object(named) => self.named(named, depth),
                _ => self.is(value, "an object of schemas"),
            },
            "required" => match value {
                Value::Array(names) if names.iter().all(Value::is_string) => None,
                _ => self.is(value, "a list of names"),
            },
            "items" if value.is_array() => self.list(value, depth),
            "items" | "additionalProperties" => self.schema(value, depth),
            "prefixItems" => self.list(value, depth),
            "anyOf" | "oneOf" | "allOf" => {
                match value.as_array().is_some_and(|forms| !forms.is_empty()) {
                    true => self.list(value, depth),
                    false => self.is(value, "a list of schemas"),
                }
            }
            _ => None,
        }
    }

    fn kind(&self, value: &Value) -> Option<String> {
        let is_known = |kind: &Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
        let are_known = match value {
            Value::Array(kinds) => !kinds.is_empty() && kinds.iter().all(is_known),
            kind => is_known(kind),
        };
        if are_known {
            None
        } else {
            self.is(value, &format!("one of {}", TYPES.join(", ")))
        }
    }

    fn named(&self, named: &Node, depth: usize) -> Option<String> {
        named
            .iter()
            .find_map(|(name, schema)| self.at(name).schema(schema, depth))
    }

    fn list(&self, value: &Value, depth: usize) -> Option<String> {
        let Some(list) = value.as_array() else {
            return self.is(value, "a list of schemas");
        };
        list.iter()
            .enumerate()
            .find_map(|(at, schema)| self.at(&at.to_string()).schema(schema, depth))
    }
}

fn shown(value: &Value) -> String {
    one_line(value.to_string(), MOST_SHOWN)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_gives_a_value_its_shape_has_to_be_whole() {
        for (schema, why) in [
            (json!(null), "its schema is null, must be an object"),
            (
                json!({"type": "string"}),
                "`type` is \"string\", and arguments are an object",
            ),
            (
                json!({"type": "object", "properties": {"n": {"type": "int"}}}),
                "`properties.n.type` is \"int\", must be one of null, boolean, integer, number, string, array, object",
            ),
            (
                json!({"type": "object", "properties": null}),
                "`properties` is null, must be an object of schemas",
            ),
            (
                json!({"type": "object", "required": null}),
                "`required` is null, must be a list of names",
            ),
            (
                json!({"properties": {"a": {"items": {"anyOf": []}}}}),
                "`properties.a.items.anyOf` is [], must be a list of schemas",
            ),
            (
                json!({"$defs": {"A": 3}}),
                "`$defs.A` is 3, must be a schema",
            ),
            (
                json!({"properties": {"a": {"items": [null]}}}),
                "`properties.a.items.0` is null, must be a schema",
            ),
        ] {
            assert_eq!(
                fault_of_parameters(&schema).as_deref(),
                Some(why),
                "{schema}"
            );
        }
    }

    #[test]
    fn what_only_narrows_it_may_be_anything() {
        for schema in [
            json!({}),
            json!({"type": "object", "properties": {"type": {"type": ["string", "null"], "minLength": "3"}}}),
            json!({"properties": {"required": {"exclusiveMinimum": true, "format": 3, "enum": []}}}),
            json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "definitions": {}, "x-any": null}),
        ] {
            assert_eq!(fault_of_parameters(&schema), None, "{schema}");
        }
    }
}
