//! Whether a schema that comes from elsewhere can be written for models at all.
//!
//! Keywords that only narrow a value and are malformed are left out when a schema
//! is written. Those that give it its shape cannot be: a tool whose parameters
//! nobody knows is better not offered. The first fault is said, with its place.

use serde_json::Value;

use super::depth::MAX_DEPTH;
use super::kinds::{TYPE_NAMES, is_type_name};
use crate::text::one_line;
use crate::tree::Node;

const MOST_SHOWN: usize = 60;

/// Says why it cannot, with the place.
pub(super) fn fault(schema: &Value) -> Option<String> {
    Place { up: None, step: "" }.schema(schema, 0)
}

/// Says why the schema of a server's tool cannot be sent, with the place. The
/// arguments of a tool are an object.
pub fn fault_of_parameters(schema: &Value) -> Option<String> {
    let Some(root) = schema.as_object() else {
        return Some(format!(
            "its schema is {}, must be an object",
            shown(schema)
        ));
    };
    if let Some(kind) = root.get("type")
        && kind != "object"
        && is_type_name(kind)
    {
        return Some(format!("`type` is {kind}, and arguments are an object"));
    }
    fault(schema)
}

/// A place in the schema, which borrows the one around it. Its path is written only
/// if there is a fault.
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

    /// As `properties.n.type`.
    fn path(&self) -> String {
        let step = one_line(self.step, MOST_SHOWN);
        let around = match self.up {
            Some(up) => up.path(),
            None => String::new(),
        };
        if around.is_empty() {
            return step;
        }
        format!("{around}.{step}")
    }

    /// The fault of a value that is something else.
    fn must_be(&self, value: &Value, expected: &str) -> Option<String> {
        Some(format!(
            "`{}` is {}, must be {expected}",
            self.path(),
            shown(value)
        ))
    }

    /// The fault of a schema. What is deeper is not written, so that its faults do not count.
    fn schema(&self, schema: &Value, depth: usize) -> Option<String> {
        let node = match schema {
            Value::Object(node) => node,
            Value::Bool(_) => return None,
            _ => return self.must_be(schema, "a schema"),
        };
        if depth > MAX_DEPTH {
            return None;
        }
        for (keyword, value) in node {
            let fault = self.at(keyword).keyword(keyword, value, depth + 1);
            if fault.is_some() {
                return fault;
            }
        }
        None
    }

    /// The fault of a keyword that gives a value its shape.
    fn keyword(&self, keyword: &str, value: &Value, depth: usize) -> Option<String> {
        match keyword {
            "type" => self.kind(value),
            "properties" | "patternProperties" | "$defs" | "definitions" => match value {
                Value::Object(named) => self.named(named, depth),
                _ => self.must_be(value, "an object of schemas"),
            },
            "required" => match value {
                Value::Array(names) if names.iter().all(Value::is_string) => None,
                _ => self.must_be(value, "a list of names"),
            },
            "items" if value.is_array() => self.list(value, depth),
            "items" | "additionalProperties" => self.schema(value, depth),
            "prefixItems" => self.list(value, depth),
            "anyOf" | "oneOf" | "allOf" => match value {
                Value::Array(forms) if !forms.is_empty() => self.list(value, depth),
                _ => self.must_be(value, "a list of schemas"),
            },
            _ => None,
        }
    }

    /// The fault of a `type`.
    fn kind(&self, value: &Value) -> Option<String> {
        let are_types = match value {
            Value::Array(kinds) => !kinds.is_empty() && kinds.iter().all(is_type_name),
            kind => is_type_name(kind),
        };
        if are_types {
            return None;
        }
        self.must_be(value, &format!("one of {}", TYPE_NAMES.join(", ")))
    }

    fn named(&self, named: &Node, depth: usize) -> Option<String> {
        for (name, schema) in named {
            let fault = self.at(name).schema(schema, depth);
            if fault.is_some() {
                return fault;
            }
        }
        None
    }

    fn list(&self, value: &Value, depth: usize) -> Option<String> {
        let Some(list) = value.as_array() else {
            return self.must_be(value, "a list of schemas");
        };
        for (index, schema) in list.iter().enumerate() {
            let step = index.to_string();
            let fault = self.at(&step).schema(schema, depth);
            if fault.is_some() {
                return fault;
            }
        }
        None
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
