//! OpenAI's rules for a strict schema, as an assertion.

use serde_json::Value;

const ALLOWED: [&str; 18] = [
    "type",
    "description",
    "enum",
    "anyOf",
    "$ref",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
];

pub(super) fn check(root: &Value) {
    let mut root = root.clone();
    let defs = root.as_object_mut().unwrap().shift_remove("$defs").unwrap_or_else(|| serde_json::json!({}));
    assert_eq!(root["type"], "object", "the root is an object");
    assert!(root.get("anyOf").is_none() && root.get("$ref").is_none());
    schema(&root, &defs);
    for def in defs.as_object().unwrap().values() {
        schema(def, &defs);
    }
}

fn schema(node: &Value, defs: &Value) {
    let members = node.as_object().unwrap_or_else(|| panic!("no object schema: {node}"));
    for key in members.keys() {
        assert!(ALLOWED.contains(&key.as_str()), "{key} in {node}");
    }
    if let Some(reference) = members.get("$ref") {
        assert_eq!(members.len(), 1, "a reference stands alone: {node}");
        let name = reference.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
        assert!(defs.get(name).is_some(), "{name} is defined");
        return;
    }
    if let Some(branches) = members.get("anyOf") {
        assert!(members.keys().all(|key| key == "anyOf" || key == "description"), "{node}");
        branches.as_array().unwrap().iter().for_each(|branch| schema(branch, defs));
        return;
    }
    let kinds = match &members["type"] {
        Value::Array(kinds) => kinds.clone(),
        kind => vec![kind.clone()],
    };
    if kinds.contains(&"object".into()) {
        let properties = members["properties"].as_object().unwrap();
        let required: Vec<&str> =
            members["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert_eq!(properties.keys().collect::<Vec<_>>(), required, "all are required: {node}");
        assert_eq!(members["additionalProperties"], false);
        properties.values().for_each(|property| schema(property, defs));
    }
    if kinds.contains(&"array".into()) {
        schema(&members["items"], defs);
    }
}
