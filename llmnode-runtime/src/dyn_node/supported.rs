//! Which JSON schemas can be checked. A rule that cannot be checked is refused when the node is built.

use std::collections::HashMap;

use llmnode_reader::internal::{is_annotation, target};
use serde_json::Value;

pub(super) fn faults(schema: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    if !schema.is_object() {
        faults.push("the schema is not a JSON object".to_owned());
    }
    look(schema, schema, "#", &mut faults);
    faults
}

fn look(root: &Value, schema: &Value, place: &str, faults: &mut Vec<String>) {
    let Value::Object(node) = schema else { return };
    for (keyword, value) in node {
        let place = format!("{place}/{keyword}");
        match fault(root, keyword, value) {
            Some(fault) => faults.push(format!("{place}: {fault}")),
            None => inside(keyword, value).for_each(|(name, inner)| {
                look(root, inner, &format!("{place}{name}"), faults);
            }),
        }
    }
    if faults.is_empty() && !ends(root, schema, 0, &mut HashMap::new()) {
        faults.push(format!(
            "{place}: refers to itself without going deeper into the value"
        ));
    }
}

/// Refuses a schema that refers to itself without descending into the value. `seen`: `false` for schemas being
/// visited.
fn ends(root: &Value, schema: &Value, depth: u32, seen: &mut HashMap<*const Value, bool>) -> bool {
    const DEEPEST: u32 = 300;
    if let Some(ends) = seen.get(&std::ptr::from_ref(schema)) {
        return *ends;
    }
    seen.insert(schema, false);
    let to = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|to| target(root, to));
    let mut inner = schemas(schema, "allOf")
        .chain(schemas(schema, "anyOf"))
        .chain(schemas(schema, "oneOf"))
        .chain(to)
        .chain(schema.get("not"));
    let ends = depth < DEEPEST && inner.all(|inner| ends(root, inner, depth + 1, seen));
    seen.insert(schema, ends);
    ends
}

fn inside<'s>(
    keyword: &str,
    value: &'s Value,
) -> Box<dyn Iterator<Item = (String, &'s Value)> + 's> {
    match (keyword, value) {
        ("properties" | "$defs" | "definitions", Value::Object(named)) => Box::new(
            named
                .iter()
                .map(|(name, schema)| (format!("/{name}"), schema)),
        ),
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(list)) => Box::new(
            list.iter()
                .enumerate()
                .map(|(index, schema)| (format!("/{index}"), schema)),
        ),
        ("items" | "additionalProperties" | "not", schema) => {
            Box::new(std::iter::once((String::new(), schema)))
        }
        _ => Box::new(std::iter::empty()),
    }
}

fn schemas<'s>(schema: &'s Value, keyword: &str) -> impl Iterator<Item = &'s Value> {
    schema
        .get(keyword)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}

fn is_list_of(value: &Value, fits: impl Fn(&Value) -> bool) -> bool {
    value
        .as_array()
        .is_some_and(|list| !list.is_empty() && list.iter().all(fits))
}

fn is_object_of_schemas(value: &Value) -> bool {
    value
        .as_object()
        .is_some_and(|members| members.values().all(is_schema))
}

fn fault(root: &Value, keyword: &str, value: &Value) -> Option<String> {
    let (fits, expected) = match keyword {
        "type" => (
            is_type(value) || is_list_of(value, is_type),
            "a type of JSON, or a list of them",
        ),
        "const" => (true, ""),
        "enum" => (is_list_of(value, |_| true), "a list of values"),
        "required" => (
            value
                .as_array()
                .is_some_and(|all| all.iter().all(Value::is_string)),
            "a list of names",
        ),
        "properties" | "$defs" | "definitions" => {
            (is_object_of_schemas(value), "an object of schemas")
        }
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
            (is_list_of(value, is_schema), "a list of schemas")
        }
        "items" | "additionalProperties" | "not" => (is_schema(value), "a schema"),
        "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties" | "maxProperties" => {
            (value.is_u64(), "a whole number, 0 or more")
        }
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
            (value.is_number(), "a number")
        }
        "multipleOf" => (
            value.as_f64().is_some_and(|of| of > 0.0),
            "a number above 0",
        ),
        "uniqueItems" => (value.is_boolean(), "true or false"),
        "$ref" => {
            let leads = value.as_str().and_then(|reference| target(root, reference));
            (
                leads.is_some_and(is_schema),
                "a reference to a part of this schema, such as #/$defs/item",
            )
        }
        "title" | "format" | "$schema" | "$id" => (true, ""),
        keyword if is_annotation(keyword) => (true, ""),
        _ => {
            return Some(
                "cannot be checked here; leave it out, or use a type with `output::<T>()`"
                    .to_owned(),
            );
        }
    };
    (!fits).then(|| format!("must be {expected}"))
}

fn is_type(value: &Value) -> bool {
    let types = [
        "string", "number", "integer", "boolean", "object", "array", "null",
    ];
    value.as_str().is_some_and(|name| types.contains(&name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_be_checked_is_named_with_its_place() {
        let schema = json!({
            "title": "Order",
            "type": "object",
            "properties": {
                "code": {"type": "string", "pattern": "^[A-Z]+$"},
                "lines": {"type": "array", "items": {"type": "line", "minItems": -1}},
                "tag": {"anyOf": [{"$ref": "#/$defs/tag"}, {"$ref": "https://example.com/tag"}]},
            },
            "required": "code",
        });
        assert_eq!(
            faults(&schema),
            [
                "#/properties/code/pattern: cannot be checked here; leave it out, or use a type with `output::<T>()`",
                "#/properties/lines/items/type: must be a type of JSON, or a list of them",
                "#/properties/lines/items/minItems: must be a whole number, 0 or more",
                "#/properties/tag/anyOf/0/$ref: must be a reference to a part of this schema, such as #/$defs/item",
                "#/properties/tag/anyOf/1/$ref: must be a reference to a part of this schema, such as #/$defs/item",
                "#/required: must be a list of names",
            ]
        );
    }

    #[test]
    fn schemas_that_never_end_are_refused_and_recursive_ones_are_not() {
        assert_eq!(
            faults(&json!({"properties": {"child": {"$ref": "#"}}})),
            Vec::<String>::new()
        );
        let endless =
            json!({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}}});
        assert!(faults(&endless)[0].contains("refers to itself"));
        let excluded = json!({"type": "object", "anyOf": [{}, {"not": {"$ref": "#"}}]});
        assert!(faults(&excluded)[0].contains("refers to itself"));
        assert_eq!(faults(&json!(true)), ["the schema is not a JSON object"]);
    }
}
