//! Whether a tool's schema is one.
//!
//! Providers check the schemas of all tools of a request, and refuse the request for one that is broken. So what no JSON Schema can be
//! is found here, when the tool is listed.

use serde_json::Value;

use crate::message::kind_of;

const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];
/// Deeper ones are refused by providers, too.
const MAX_DEPTH: usize = 64;

/// What is wrong with the schema of a tool's arguments, and where.
pub(crate) fn fault(schema: &Value) -> Option<String> {
    match schema.get("type") {
        None => {}
        Some(kind) if kind == "object" => {}
        Some(kind) => return Some(format!("its type is {kind}, and arguments are an object")),
    }
    within(schema, "", 0)
}

fn within(schema: &Value, path: &str, depth: usize) -> Option<String> {
    let at = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let members = match schema {
        Value::Bool(_) => return None,
        Value::Object(members) => members,
        other => return Some(format!("`{path}` is {}, not a schema", kind_of(other))),
    };
    if depth > MAX_DEPTH {
        return Some(format!("it is nested more than {MAX_DEPTH} deep"));
    }
    members.iter().find_map(|(name, value)| match name.as_str() {
        "type" => of_type(value).map(|why| format!("`{}` {why}", at(name))),
        "required" | "enum" => {
            let texts =
                name == "enum" || value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
            let wrong = !value.is_array() || !texts;
            wrong.then(|| {
                format!(
                    "`{}` is {}, not a list{}",
                    at(name),
                    kind_of(value),
                    if name == "enum" { "" } else { " of names" }
                )
            })
        }
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => match value {
            Value::Object(named) => {
                named.iter().find_map(|(inner, one)| within(one, &at(&format!("{name}.{inner}")), depth + 1))
            }
            other => Some(format!("`{}` is {}, not an object", at(name), kind_of(other))),
        },
        "anyOf" | "oneOf" | "allOf" | "prefixItems" => match value {
            Value::Array(forms) if !forms.is_empty() => forms
                .iter()
                .enumerate()
                .find_map(|(index, one)| within(one, &at(&format!("{name}.{index}")), depth + 1)),
            _ => Some(format!("`{}` is no list of schemas", at(name))),
        },
        "items" => match value {
            // As older drafts write tuples.
            Value::Array(forms) => forms
                .iter()
                .enumerate()
                .find_map(|(index, one)| within(one, &at(&format!("{name}.{index}")), depth + 1)),
            one => within(one, &at(name), depth + 1),
        },
        "additionalProperties" | "not" | "if" | "then" | "else" | "contains" | "propertyNames" => {
            within(value, &at(name), depth + 1)
        }
        _ => None,
    })
}

fn of_type(kind: &Value) -> Option<String> {
    let known = |kind: &Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
    let is_known = match kind {
        Value::Array(kinds) => !kinds.is_empty() && kinds.iter().all(known),
        kind => known(kind),
    };
    (!is_known).then(|| format!("is {kind}, which is no type of JSON Schema"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_no_schema_is_found_with_its_place() {
        for (schema, expected) in [
            (
                json!({"type": "object", "properties": {"n": {"type": "int"}}}),
                "`properties.n.type` is \"int\", which is no type of JSON Schema",
            ),
            (
                json!({"type": "object", "properties": null, "required": null}),
                "`properties` is null, not an object",
            ),
            (json!({"required": [5]}), "`required` is a list, not a list of names"),
            (json!({"type": "array"}), "its type is \"array\", and arguments are an object"),
            (
                json!({"properties": {"a": {"items": {"anyOf": []}}}}),
                "`properties.a.items.anyOf` is no list of schemas",
            ),
            (json!({"properties": {"a": "text"}}), "`properties.a` is a text, not a schema"),
            (
                json!({"$defs": {"a": {"type": ["string", 5]}}}),
                "`$defs.a.type` is [\"string\",5], which is no type of JSON Schema",
            ),
        ] {
            assert_eq!(fault(&schema).as_deref(), Some(expected), "{schema}");
        }
        for schema in [
            json!({}),
            json!({"type": "object", "properties": {"type": {"type": ["string", "null"]}, "required": {"const": 5}}}),
            json!({"properties": {"a": {"items": [{"type": "string"}]}}, "additionalProperties": false, "examples": [{"type": 5}]}),
        ] {
            assert_eq!(fault(&schema), None, "{schema}");
        }
    }
}
