//! What holds of the dialects of any schema.

use std::collections::HashSet;

use llmnode_reader::OutputSchema;
use serde_json::Value;

use super::draw::Draw;

pub(crate) fn hold(schema: Value, draw: &mut Draw<'_>) {
    let name = draw.of(&["Report", "", "list of names", "é", "a.b"]);
    let built = OutputSchema::from_value(name, schema);
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    assert!((1..=64).contains(&built.name().len()) && built.name().chars().all(letters));
    // What is sent can be taken for a schema itself.
    let again = OutputSchema::from_value(name, parsed(built.plain().get()));
    assert_eq!(again.name(), built.name());
    match built.strict() {
        Ok(strict) => {
            let strict: Value = parsed(strict.get());
            is_strict(&strict);
        }
        Err(error) => {
            assert_ne!(error.problems().len(), 0);
            for (_, what, remedy) in error.problems() {
                assert!(!what.is_empty() && !remedy.is_empty());
            }
        }
    }
}

/// Dialects may be nested deeper than serde_json reads: then nothing more is known of them.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| {
        assert!(
            error.to_string().contains("recursion limit"),
            "{error} in {text}"
        );
        Value::Bool(true)
    })
}

/// The rules of strict mode: see OpenAI's description of structured outputs.
fn is_strict(root: &Value) {
    if root == &Value::Bool(true) {
        return;
    }
    assert!(
        root["type"] == "object" && root.get("anyOf").is_none(),
        "the root is no object: {root}"
    );
    let definitions: HashSet<&str> = root["$defs"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect();
    let mut open = vec![root];
    open.extend(
        root["$defs"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(_, definition)| definition),
    );
    while let Some(node) = open.pop() {
        let members = node
            .as_object()
            .unwrap_or_else(|| panic!("no schema: {node} in {root}"));
        for key in members.keys() {
            assert!(KNOWN.contains(&key.as_str()), "{key} in {root}");
        }
        if let Some(reference) = members.get("$ref") {
            assert_eq!(members.len(), 1, "beside a reference: {node}");
            let name = reference
                .as_str()
                .and_then(|reference| reference.strip_prefix("#/$defs/"));
            let name = name.map(|name| name.replace("~1", "/").replace("~0", "~"));
            assert!(
                name.is_some_and(|name| definitions.contains(name.as_str())),
                "{reference} in {root}"
            );
            continue;
        }
        if let Some(properties) = members.get("properties") {
            let properties = properties.as_object().unwrap_or_else(|| panic!("{node}"));
            assert_eq!(node["additionalProperties"], false, "{node}");
            let required: Vec<_> = node["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            assert_eq!(
                required,
                properties.keys().map(String::as_str).collect::<Vec<_>>(),
                "{node}"
            );
            open.extend(properties.values());
        }
        open.extend(members.get("items"));
        open.extend(
            members
                .get("anyOf")
                .and_then(Value::as_array)
                .into_iter()
                .flatten(),
        );
    }
}

const KNOWN: [&str; 19] = [
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "required",
    "type",
];
