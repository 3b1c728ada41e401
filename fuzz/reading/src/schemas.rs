//! Schemas: what derives write, what people write by hand, and what nobody should.

use serde_json::{Map, Value, json};

use super::draw::Draw;

const NAMES: [&str; 8] = ["A", "B", "name", "value", "a/b", "a~b", "", "é"];
const TYPES: [&str; 8] = [
    "object", "array", "string", "integer", "number", "boolean", "null", "thing",
];
const TEXTS: [&str; 5] = ["", "One of them.", "int64", "uuid", "^a+$"];
const NUMBERS: [i64; 7] = [0, 1, -1, 2, 255, i64::MAX, i64::MIN];

/// A schema with definitions. Once in a while it is nested far deeper than any type.
pub(crate) fn schema(draw: &mut Draw<'_>) -> Value {
    let mut root = any(draw, 4);
    for _ in 0..draw.below(3) {
        let (name, definition) = (draw.of(&NAMES), any(draw, 3));
        if let Value::Object(root) = &mut root {
            let definitions = root
                .entry(draw.of(&["$defs", "$defs", "$defs", "definitions"]))
                .or_insert(json!({}));
            if let Value::Object(definitions) = definitions {
                definitions.insert(name.to_owned(), definition);
            }
        }
    }
    if draw.once_in(64) {
        // Beyond the depth at which ours ends, more often than not.
        let most = draw.of(&[50, 50, 50, 500]);
        for _ in 0..draw.below(most) {
            root = deeper(root, draw);
        }
    }
    root
}

fn deeper(inner: Value, draw: &mut Draw<'_>) -> Value {
    let mut node = Map::new();
    match draw.below(6) {
        0 => {
            put(&mut node, "type", "object");
            put(
                &mut node,
                "properties",
                Map::from_iter([("a".to_owned(), inner)]),
            );
        }
        1 => {
            put(&mut node, "type", "array");
            put(&mut node, "items", inner);
        }
        2 => put(&mut node, "anyOf", vec![inner, json!({"type": "null"})]),
        3 => put(&mut node, "allOf", vec![inner]),
        4 => put(&mut node, "oneOf", vec![inner]),
        _ => {
            put(
                &mut node,
                "$defs",
                Map::from_iter([("A".to_owned(), inner)]),
            );
            put(&mut node, "$ref", "#/$defs/A");
        }
    }
    Value::Object(node)
}

fn any(draw: &mut Draw<'_>, depth: usize) -> Value {
    let mut node = Map::new();
    match draw.below(if depth == 0 { 7 } else { 13 }) {
        0 => put(&mut node, "type", draw.of(&TYPES)),
        1 => {
            let types: Vec<_> = (0..draw.below(4)).map(|_| draw.of(&TYPES)).collect();
            put(&mut node, "type", types);
        }
        2 => put(&mut node, "$ref", reference(draw)),
        3 => {
            let values: Vec<_> = (0..draw.below(4)).map(|_| literal(draw)).collect();
            put(&mut node, "enum", values);
        }
        4 => put(&mut node, "const", literal(draw)),
        5 => return Value::Bool(draw.once_in(2)),
        6 => {}
        7..=9 => object(&mut node, draw, depth - 1),
        10 => list(&mut node, draw, depth - 1),
        _ => union(&mut node, draw, depth - 1),
    }
    for _ in 0..draw.below(4) {
        beside(&mut node, draw, depth);
    }
    Value::Object(node)
}

fn put(node: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    node.insert(key.to_owned(), value.into());
}

fn reference(draw: &mut Draw<'_>) -> String {
    let name = draw.of(&NAMES);
    match draw.below(8) {
        0 => "#".to_owned(),
        1 => format!("#/properties/{name}"),
        2 => format!("#/definitions/{name}"),
        3 => "https://example.org/schema".to_owned(),
        _ => format!("#/$defs/{}", name.replace('~', "~0").replace('/', "~1")),
    }
}

fn literal(draw: &mut Draw<'_>) -> Value {
    match draw.below(6) {
        0 => Value::Null,
        1 => Value::Bool(true),
        2 => draw.of(&NUMBERS).into(),
        3 => json!({"a": [1]}),
        _ => draw.of(&NAMES).into(),
    }
}

fn object(node: &mut Map<String, Value>, draw: &mut Draw<'_>, depth: usize) {
    if !draw.once_in(8) {
        put(node, "type", "object");
    }
    let properties: Map<_, _> = (0..draw.below(4))
        .map(|_| (draw.of(&NAMES).to_owned(), any(draw, depth)))
        .collect();
    if draw.once_in(2) {
        put(
            node,
            "required",
            properties.keys().cloned().collect::<Vec<_>>(),
        );
    } else if draw.once_in(4) {
        put(node, "required", vec![draw.of(&NAMES)]);
    }
    put(node, "properties", properties);
}

fn list(node: &mut Map<String, Value>, draw: &mut Draw<'_>, depth: usize) {
    put(node, "type", "array");
    if draw.once_in(3) {
        let items: Vec<_> = (0..draw.below(4)).map(|_| any(draw, depth)).collect();
        put(node, "minItems", items.len());
        put(node, "maxItems", items.len());
        put(node, "prefixItems", items);
    } else {
        put(node, "items", any(draw, depth));
    }
}

fn union(node: &mut Map<String, Value>, draw: &mut Draw<'_>, depth: usize) {
    let branches: Vec<_> = (0..draw.below(4)).map(|_| any(draw, depth)).collect();
    put(node, draw.of(&["anyOf", "oneOf", "allOf"]), branches);
}

/// A keyword beside the others, whether it makes sense there or not.
fn beside(node: &mut Map<String, Value>, draw: &mut Draw<'_>, depth: usize) {
    const BOUNDS: [&str; 12] = [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
        "minProperties",
        "maxProperties",
        "uniqueItems",
    ];
    match draw.below(12) {
        0..=2 => put(
            node,
            draw.of(&["description", "title", "format", "pattern", "$schema"]),
            draw.of(&TEXTS),
        ),
        3 | 4 => put(node, draw.of(&BOUNDS), draw.of(&NUMBERS)),
        5 => put(node, draw.of(&BOUNDS), literal(draw)),
        6 => put(node, "default", literal(draw)),
        7 => put(node, "additionalProperties", draw.once_in(2)),
        8 if depth > 0 => {
            let key = draw.of(&[
                "additionalProperties",
                "unevaluatedProperties",
                "not",
                "items",
                "if",
                "contains",
            ]);
            put(node, key, any(draw, depth - 1));
        }
        9 if depth > 0 => {
            put(
                node,
                "patternProperties",
                Map::from_iter([("^a".to_owned(), any(draw, depth - 1))]),
            );
        }
        10 if depth > 0 => union(node, draw, depth - 1),
        11 if depth > 0 => object(node, draw, depth - 1),
        _ => put(
            node,
            draw.of(&[
                "description",
                "$ref",
                "enum",
                "required",
                "type",
                "x-llmnode-validated",
            ]),
            literal(draw),
        ),
    }
}
