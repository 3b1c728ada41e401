//! Random schemas, and a checker of values against them that shares nothing with the code that finds values.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

type Matches = fn(&str) -> bool;

/// Patterns with what they mean, checked by hand.
pub(super) const PATTERNS: [(&str, Matches); 6] = [
    ("^[A-Z]{2}-\\d{3}$", |s| {
        let b = s.as_bytes();
        b.len() == 6
            && b[..2].iter().all(u8::is_ascii_uppercase)
            && b[2] == b'-'
            && b[3..].iter().all(u8::is_ascii_digit)
    }),
    ("^(foo|ba[rz])+$", |s| {
        s.len() >= 3
            && s.as_bytes()
                .chunks(3)
                .all(|c| [&b"foo"[..], b"bar", b"baz"].contains(&c))
    }),
    ("^[^a-z\\s]*$", |s| {
        s.chars()
            .all(|c| !c.is_ascii_lowercase() && !c.is_whitespace())
    }),
    ("^\\+?[0-9]{3,5}$", |s| {
        let digits = s.strip_prefix('+').unwrap_or(s);
        (3..=5).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
    }),
    ("^(?:\\w+\\.)+[a-z]{2,3}$", |s| {
        let (hosts, top) = s.rsplit_once('.').unwrap_or(("", ""));
        let word =
            |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        hosts.split('.').all(word)
            && (2..=3).contains(&top.len())
            && top.bytes().all(|b| b.is_ascii_lowercase())
    }),
    ("^-?\\d+$", |s| {
        let digits = s.strip_prefix('-').unwrap_or(s);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    }),
];

/// Whether `value` satisfies `schema`; what is wrong where if not.
pub(super) fn check(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    let map = match schema {
        Value::Bool(true) => return Ok(()),
        Value::Object(map) => map,
        _ => return Err(format!("{schema} admits nothing, not {value}")),
    };
    for (key, rule) in map {
        let fine = match key.as_str() {
            "$ref" => {
                let target = root.pointer(&rule.as_str().unwrap()[1..]).unwrap();
                check(root, target, value)?;
                true
            }
            "allOf" => {
                list(rule)
                    .iter()
                    .try_for_each(|part| check(root, part, value))?;
                true
            }
            "anyOf" => list(rule)
                .iter()
                .any(|part| check(root, part, value).is_ok()),
            "oneOf" => {
                list(rule)
                    .iter()
                    .filter(|part| check(root, part, value).is_ok())
                    .count()
                    == 1
            }
            "enum" => list(rule).contains(value),
            "const" => rule == value,
            "type" => match rule {
                Value::Array(names) => names.iter().any(|name| is_a(value, name.as_str().unwrap())),
                name => is_a(value, name.as_str().unwrap()),
            },
            _ => match value {
                Value::String(text) => string(key, rule, text),
                Value::Number(_) => number(key, rule, value),
                Value::Array(items) => array(root, map, key, items)?,
                Value::Object(fields) => object(root, map, key, fields)?,
                _ => true,
            },
        };
        if !fine {
            return Err(format!("{key}: {rule} does not admit {value}"));
        }
    }
    Ok(())
}

fn list(rule: &Value) -> &Vec<Value> {
    rule.as_array().unwrap()
}

fn is_a(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => panic!("no type: {name}"),
    }
}

fn string(key: &str, rule: &Value, text: &str) -> bool {
    let length = text.chars().count() as u64;
    match key {
        "minLength" => length >= rule.as_u64().unwrap(),
        "maxLength" => length <= rule.as_u64().unwrap(),
        "pattern" => PATTERNS
            .iter()
            .find(|(pattern, _)| rule == pattern)
            .unwrap()
            .1(text),
        "format" => format(rule.as_str().unwrap(), text),
        _ => true,
    }
}

fn format(name: &str, text: &str) -> bool {
    // What each character of the text is: a digit, a hexadecimal letter, or itself.
    let shape: String = text
        .chars()
        .map(|c| match c {
            '0'..='9' => '9',
            'a'..='f' if name == "uuid" => '9',
            other => other,
        })
        .collect();
    match name {
        "date" => shape == "9999-99-99",
        "date-time" => shape == "9999-99-99T99:99:99Z",
        "uuid" => shape == "99999999-9999-9999-9999-999999999999",
        "email" => text
            .split_once('@')
            .is_some_and(|(user, host)| !user.is_empty() && host.contains('.')),
        "uri" => text.starts_with("https://"),
        _ => panic!("no format: {name}"),
    }
}

fn number(key: &str, rule: &Value, value: &Value) -> bool {
    let (limit, x) = (rule.as_f64().unwrap_or(0.0), value.as_f64().unwrap());
    match key {
        "minimum" => x >= limit,
        "maximum" => x <= limit,
        "exclusiveMinimum" => x > limit,
        "exclusiveMaximum" => x < limit,
        "multipleOf" => {
            (x / limit - (x / limit).round()).abs() < 1e-9_f64.max((x / limit).abs() * 1e-15)
        }
        "format" if rule == "uint8" => value.as_u64().is_some_and(|n| n < 256),
        "format" if rule == "int32" => value.as_i64().is_some_and(|n| i32::try_from(n).is_ok()),
        _ => true,
    }
}

fn array(
    root: &Value,
    map: &Map<String, Value>,
    key: &str,
    items: &[Value],
) -> Result<bool, String> {
    let rule = &map[key];
    let prefix = map
        .get("prefixItems")
        .map_or(0, |prefix| list(prefix).len());
    Ok(match key {
        "minItems" => items.len() as u64 >= rule.as_u64().unwrap(),
        "maxItems" => items.len() as u64 <= rule.as_u64().unwrap(),
        "uniqueItems" => (1..items.len()).all(|at| !items[..at].contains(&items[at])),
        "prefixItems" => {
            list(rule)
                .iter()
                .zip(items)
                .try_for_each(|(schema, item)| check(root, schema, item))?;
            true
        }
        "items" => {
            items
                .iter()
                .skip(prefix)
                .try_for_each(|item| check(root, rule, item))?;
            true
        }
        _ => true,
    })
}

fn object(
    root: &Value,
    map: &Map<String, Value>,
    key: &str,
    fields: &Map<String, Value>,
) -> Result<bool, String> {
    let rule = &map[key];
    let named = |name: &str| map.get("properties").is_some_and(|p| p.get(name).is_some());
    Ok(match key {
        "required" => list(rule)
            .iter()
            .all(|name| fields.contains_key(name.as_str().unwrap())),
        "minProperties" => fields.len() as u64 >= rule.as_u64().unwrap(),
        "maxProperties" => fields.len() as u64 <= rule.as_u64().unwrap(),
        "properties" => {
            for (name, schema) in rule.as_object().unwrap() {
                fields
                    .get(name)
                    .map_or(Ok(()), |field| check(root, schema, field))?;
            }
            true
        }
        "additionalProperties" => {
            let mut others = fields.iter().filter(|(name, _)| !named(name));
            others.try_for_each(|(_, field)| check(root, rule, field))?;
            true
        }
        _ => true,
    })
}

/// Schemas that some value satisfies, with every keyword the checker knows.
pub(super) fn schemas() -> impl Strategy<Value = Value> {
    (inner(), leaf().prop_filter("no way out", |s| s.get("$ref").is_none()), any::<bool>()).prop_map(|(schema, value, with_children)| {
        let next = json!({"anyOf": [{"$ref": "#/$defs/node"}, {"const": "end"}]});
        let children = json!({"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 4});
        let mut node = json!({"type": "object", "additionalProperties": false, "required": ["value", "next"],
            "properties": {"value": value, "next": next}});
        if with_children {
            node["properties"]["children"] = children;
        }
        let defs =
            json!({"node": node, "alias": {"$ref": "#/$defs/node", "description": "beside a reference"}});
        json!({"$defs": defs, "type": "object", "required": ["it"], "properties": {
            "it": schema, "again": {"$ref": "#"},
        }})
    })
}

fn inner() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            object_of(inner.clone()),
            map_of(inner.clone()),
            array_of(inner.clone()),
            proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| json!({"anyOf": parts})),
            proptest::collection::vec(inner.clone(), 1..4)
                .prop_map(|parts| json!({"type": "array", "minItems": parts.len(), "prefixItems": parts, "items": false})),
            inner.clone().prop_map(|part| json!({"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "a"}, "it": part}, "required": ["kind", "it"]},
                {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]},
            ]})),
            (inner.clone(), inner).prop_map(|(a, b)| json!({
                "type": "object", "properties": {"a": a}, "required": ["n"],
                "allOf": [
                    {"properties": {"n": {"type": "integer", "minimum": 3, "maximum": 90}}, "required": ["a"]},
                    {"properties": {"n": {"type": ["number", "null"], "minimum": -9, "maximum": 5}, "b": b}},
                ],
            })),
        ]
    })
}

fn object_of(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let property = (inner, any::<bool>());
    (
        proptest::collection::btree_map("[a-e]", property, 0..4),
        any::<bool>(),
    )
        .prop_map(|(properties, closed)| {
            let required: Vec<&String> = properties
                .iter()
                .filter(|(_, (_, is))| *is)
                .map(|(name, _)| name)
                .collect();
            let schemas: Map<String, Value> = properties
                .iter()
                .map(|(name, (schema, _))| (name.clone(), schema.clone()))
                .collect();
            let mut schema = json!({"type": "object", "properties": schemas, "required": required});
            if closed {
                schema["additionalProperties"] = json!(false);
            } else if !required.is_empty() {
                schema["maxProperties"] = json!(required.len());
            } else {
                schema["minProperties"] = json!(2);
            }
            schema
        })
}

fn map_of(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (inner, 0..4_u64, 0..4_u64).prop_map(
        |(of, min, more)| json!({"type": "object", "additionalProperties": of, "minProperties": min, "maxProperties": min + more}),
    )
}

fn array_of(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (inner, 0..4_u64, proptest::option::of(0..4_u64)).prop_map(|(items, min, more)| {
        let mut schema = json!({"type": "array", "items": items, "minItems": min});
        if let Some(more) = more {
            schema["maxItems"] = json!(min + more);
        }
        schema
    })
}

fn leaf() -> impl Strategy<Value = Value> {
    let fixed = |schema: Value| Just(schema).boxed();
    let format = proptest::sample::select(vec!["date", "date-time", "uuid", "email", "uri"]);
    let pattern = proptest::sample::select(PATTERNS.map(|(pattern, _)| pattern).to_vec());
    prop_oneof![
        fixed(json!({"type": "boolean"})),
        fixed(json!({"type": "null"})),
        fixed(json!(true)),
        fixed(json!({"type": ["string", "null"]})),
        fixed(json!({"enum": ["x", 1, null, {"a": []}]})),
        fixed(json!({"type": "string", "enum": ["x", "y"]})),
        fixed(json!({"const": {"k": [1, 2]}})),
        fixed(json!({"$ref": "#/$defs/node"})),
        fixed(json!({"$ref": "#/$defs/alias"})),
        fixed(json!({"type": "integer", "format": "uint8", "minimum": 250})),
        fixed(json!({"type": "integer", "format": "int32", "maximum": -2147483600_i64})),
        fixed(
            json!({"type": "array", "items": {"enum": [1, 2, 3, 4, 5]}, "uniqueItems": true, "minItems": 5})
        ),
        format.prop_map(|format| json!({"type": "string", "format": format})),
        pattern.prop_map(|pattern| json!({"type": "string", "pattern": pattern})),
        (0..40_u64, proptest::option::of(0..40_u64)).prop_map(|(min, more)| match more {
            Some(more) => json!({"type": "string", "minLength": min, "maxLength": min + more}),
            None => json!({"type": "string", "minLength": min}),
        }),
        numbers(
            "integer",
            (-1_000_000_000_000..1_000_000_000_000_i64).prop_map(|n| n as f64)
        ),
        numbers("number", -1e6..1e6),
    ]
}

/// Bounds wide enough for the step, of every kind.
fn numbers(kind: &'static str, lo: impl Strategy<Value = f64>) -> impl Strategy<Value = Value> {
    let step = proptest::sample::select(if kind == "integer" {
        vec![1.0, 7.0, 2.5]
    } else {
        vec![0.1, 0.25, 3.0]
    });
    let keys = proptest::sample::select(vec![
        ("minimum", "maximum"),
        ("exclusiveMinimum", "exclusiveMaximum"),
    ]);
    (lo, 40.0..1000.0, keys, 0..4_u8, proptest::option::of(step)).prop_map(
        move |(lo, width, (min, max), which, step)| {
            let mut schema = json!({"type": kind});
            let number = |x: f64| {
                if kind == "integer" {
                    json!(x as i64)
                } else {
                    json!(x)
                }
            };
            if which & 1 != 0 {
                schema[min] = number(lo);
            }
            if which & 2 != 0 {
                schema[max] = number(lo + width);
            }
            if let Some(step) = step {
                schema["multipleOf"] = json!(step);
            }
            schema
        },
    )
}
