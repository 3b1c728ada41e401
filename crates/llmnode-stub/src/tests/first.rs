//! Answers made from schemas.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::chat;
use super::client::ask;
use super::schemas::{PATTERNS, check, schemas};
use crate::first::{first_value, nth_value};
use crate::{Reply, StubServer};

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_value_satisfies_its_schema(schema in schemas(), n in any::<usize>()) {
        prop_assert_eq!(&first_value(&schema), &nth_value(&schema, 0));
        for value in [first_value(&schema), nth_value(&schema, n)] {
            if let Err(why) = check(&schema, &schema, &value) {
                return Err(TestCaseError::fail(format!("{why}\nschema: {schema}\nvalue: {value}")));
            }
        }
    }

    #[test]
    fn no_json_at_all_is_a_schema_that_breaks_it(text in "[\\[\\]{}\",:a-z0-9$#/ .-]{0,80}", depth in 0..20_usize) {
        let noise = serde_json::from_str(&text).unwrap_or(Value::String(text));
        let keys = ["type", "$ref", "anyOf", "items", "enum", "required", "minimum", "pattern", "properties"];
        let odd = keys.iter().fold(noise, |inner, key| json!({*key: inner}));
        let deep = (0..depth).fold(odd, |inner, _| json!({"anyOf": [inner], "minItems": -1}));
        first_value(&deep);
    }
}

/// The checker itself must be able to say no.
#[test]
fn the_checker_refuses() {
    let refused = [
        (json!({"type": "integer"}), json!(1.5)),
        (json!({"oneOf": [{"type": "number"}, {"minimum": 0}]}), json!(1)),
        (json!({"type": "object", "required": ["a"]}), json!({})),
        (json!({"additionalProperties": false}), json!({"a": 1})),
        (json!({"items": {"maxLength": 2}}), json!(["abc"])),
        (json!({"multipleOf": 0.1}), json!(0.25)),
        (json!({"uniqueItems": true}), json!([1, 1])),
        (json!({"format": "date"}), json!("2020-1-1")),
        (json!({"pattern": PATTERNS[0].0}), json!("AB-12x")),
        (json!({"$defs": {"a": {"const": 1}}, "$ref": "#/$defs/a"}), json!(2)),
    ];
    for (schema, value) in refused {
        assert!(check(&schema, &schema, &value).is_err(), "{schema} {value}");
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read from JSON")]
struct Everything {
    name: String,
    initial: char,
    age: Option<u8>,
    balance: i64,
    ratio: f32,
    ids: BTreeSet<u16>,
    by_number: BTreeMap<i32, Shape>,
    by_name: BTreeMap<String, Vec<bool>>,
    pair: (i8, String),
    three: [u32; 3],
    nothing: (),
    #[schemars(range(min = 3, max = 5), description = "beside a $ref")]
    few: u64,
    tree: Tree,
    shape: Shape,
    any: Value,
    level: Level,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read from JSON")]
struct Tree {
    left: Option<Box<Tree>>,
    right: Option<Box<Tree>>,
    more: Vec<Tree>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(dead_code, reason = "only read from JSON")]
enum Shape {
    Circle { radius: f64 },
    Group { parts: Vec<Shape> },
    Point,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read from JSON")]
enum Level {
    /// A documented variant becomes a `oneOf` of `const`s.
    Low,
    High,
    Other(String),
}

#[test]
fn types_read_the_values_of_their_schemas() {
    let schema = schemars::schema_for!(Everything).to_value();
    for n in 0..150 {
        let value = nth_value(&schema, n);
        let read: Result<Everything, _> = serde_json::from_value(value.clone());
        let read = read.unwrap_or_else(|error| panic!("value {n}: {error}\n{value}"));
        assert!((3..=5).contains(&read.few));
    }
}

#[test]
fn patterns_are_met() {
    for (pattern, matches) in PATTERNS {
        let schema = json!({"type": "string", "pattern": pattern});
        let texts: BTreeSet<String> =
            (0..200).map(|n| nth_value(&schema, n).as_str().unwrap().to_owned()).collect();
        assert!(texts.iter().all(|text| matches(text)), "{pattern}: {texts:?}");
        assert!(texts.len() > 20, "{pattern}: {texts:?}");
    }
    let both = json!({"type": "string", "pattern": "^[a-z]+$", "minLength": 30, "maxLength": 31});
    assert!((30..=31).contains(&first_value(&both).as_str().unwrap().len()));
    for unknown in ["(?=a)b", "\\p{L}", "(", "[z-a]", "a{2", "*", "(a)\\1", "[[:alpha:]]", "(a{1000}){1000}"]
    {
        assert!(first_value(&json!({"type": "string", "pattern": unknown})).is_string(), "{unknown}");
    }
}

/// What the docs of `Reply::from_schema` promise.
#[test]
fn the_first_value_is_a_plain_one() {
    let cases = [
        (json!({"type": ["string", "null"]}), json!("text")),
        (json!({"enum": ["b", "a"]}), json!("b")),
        (json!({"anyOf": [{"type": "null"}, {"type": "boolean"}]}), json!(null)),
        (json!({"type": "boolean"}), json!(false)),
        (json!({"type": "integer"}), json!(0)),
        (json!({"type": "integer", "exclusiveMinimum": 4, "multipleOf": 3}), json!(6)),
        (json!({"type": "number", "maximum": -1.5}), json!(-1.5)),
        (json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}), json!(0.5)),
        (json!({"type": "string", "minLength": 6}), json!("textte")),
        (json!({"type": "string", "maxLength": 2}), json!("te")),
        (json!({"type": "string", "format": "email"}), json!("user@example.com")),
        (json!({"type": "string", "pattern": "^(x|y)-[A-Z]{2}\\d+$"}), json!("x-AA1")),
        (json!({"type": "string", "pattern": "^(a|b+)$", "minLength": 3}), json!("bbb")),
        (json!({"type": "array", "items": {"type": "integer"}}), json!([0])),
        (json!({"type": "array", "items": {"type": "integer"}, "maxItems": 0}), json!([])),
        (
            json!({"type": "array", "items": true, "uniqueItems": true, "minItems": 3}),
            json!(["text", "text1", "text2"]),
        ),
        (json!({"type": "object", "properties": {"a": {"const": 1}, "b": false}}), json!({"a": 1})),
        (
            json!({"additionalProperties": {"type": "integer"}, "minProperties": 2}),
            json!({"key": 0, "key1": 0}),
        ),
        (json!({"type": "object", "anyOf": [{"type": "string"}, {"required": ["a"]}]}), json!({"a": "text"})),
    ];
    for (schema, expected) in cases {
        assert_eq!(first_value(&schema), expected, "{schema}");
    }
}

/// A type within itself is there once more, and ends.
#[test]
fn recursion_ends_soon() {
    let tree = schemars::schema_for!(Tree).to_value();
    let end = json!({"more": []});
    assert_eq!(first_value(&tree), json!({"left": end, "right": end, "more": [end]}));
}

/// Every combination of choices has its turn where items must differ.
#[test]
fn distinct_items_use_up_all_values() {
    let bit = json!({"type": "boolean"});
    let pair =
        json!({"type": "object", "properties": {"a": bit, "b": {"anyOf": [{"const": 1}, {"enum": [2, 3]}]}}});
    let schema = json!({"type": "array", "items": pair, "uniqueItems": true, "minItems": 6});
    assert!(check(&schema, &schema, &first_value(&schema)).is_ok(), "{}", first_value(&schema));
}

/// Bounds that leave few values: these are all values.
#[test]
fn narrow_ranges() {
    let cases = [
        (json!({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 4}), vec!["2", "3"]),
        (json!({"type": "integer", "minimum": 0.5, "maximum": 2.5}), vec!["1", "2"]),
        (
            json!({"type": "integer", "minimum": -9, "maximum": 5, "multipleOf": 4}),
            vec!["-8", "-4", "0", "4"],
        ),
        (json!({"type": "integer", "exclusiveMinimum": u64::MAX - 1}), vec!["18446744073709551615"]),
        (json!({"type": "integer", "maximum": i64::MIN}), vec!["-9223372036854775808"]),
        (json!({"type": "integer", "format": "int8", "minimum": 126}), vec!["126", "127"]),
        (json!({"exclusiveMinimum": 0.1, "maximum": 0.3, "multipleOf": 0.1}), vec!["0.2", "0.3"]),
        (
            json!({"minimum": -0.5, "exclusiveMaximum": 0.5, "multipleOf": 0.25}),
            vec!["-0.25", "-0.5", "0.0", "0.25"],
        ),
        (json!({"minimum": 0.125, "maximum": 0.125}), vec!["0.125"]),
        (
            json!({"allOf": [{"multipleOf": 4}, {"multipleOf": 6}], "type": "integer", "minimum": 1, "maximum": 30}),
            vec!["12", "24"],
        ),
        (json!({"type": "string", "minLength": 1, "maxLength": 1, "enum": ["a"]}), vec!["\"a\""]),
    ];
    for (schema, expected) in cases {
        let values: BTreeSet<String> = (0..100).map(|n| nth_value(&schema, n).to_string()).collect();
        assert_eq!(values, expected.into_iter().map(str::to_owned).collect(), "{schema}");
    }
}

/// Schemas without a finite value, and demands beyond all measure: an end in short time all the same.
#[test]
fn hopeless_schemas_end() {
    let doubling: serde_json::Map<String, Value> = (0..40)
        .map(|n| {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            (format!("d{n}"), json!({"allOf": [next, next]}))
        })
        .collect();
    let chain: serde_json::Map<String, Value> = (0..2000)
        .map(|n| {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            (format!("d{n}"), json!({"type": "object", "properties": {"next": next}, "required": ["next"]}))
        })
        .collect();
    let hopeless = [
        json!({"$ref": "#"}),
        json!({"$ref": "#/nowhere"}),
        json!({"$ref": "elsewhere.json"}),
        json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}),
        json!({"type": "object", "required": ["a", "b"], "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}}),
        json!({"type": "array", "items": {"$ref": "#"}, "minItems": 3}),
        json!({"type": "array", "minItems": 1_000_000_000_u64}),
        json!({"type": "array", "items": {"$ref": "#"}, "minItems": 1_000_000_000_u64}),
        json!({"type": "array", "items": {"type": "integer"}, "uniqueItems": true, "minItems": 1_000_000_000_u64}),
        json!({"type": "array", "items": {"pattern": "^[ab]{4000}$"}, "uniqueItems": true, "minItems": 1_000_000_u64}),
        json!({"type": "string", "pattern": format!("^({}a){{4000}}$", "\\b".repeat(50_000)), "minLength": 5}),
        json!({"type": "array", "items": {"type": "boolean"}, "uniqueItems": true, "minItems": 3}),
        json!({"type": "object", "minProperties": 1_000_000_000_u64}),
        json!({"type": "object", "minProperties": 3, "propertyNames": {"const": "a"}}),
        json!({"type": "string", "pattern": format!("{}a{}", "(".repeat(240), ")".repeat(240))}),
        json!({"type": "string", "pattern": format!("{}a{}", "(".repeat(100_000), ")".repeat(100_000))}),
        json!({"type": "string", "minLength": u64::MAX}),
        json!({"type": "string", "minLength": 5, "maxLength": 1}),
        json!({"type": "integer", "minimum": 5, "maximum": 1, "multipleOf": 0}),
        json!({"type": "integer", "minimum": 1e300, "multipleOf": 1e-300}),
        json!({"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 1}),
        json!({"type": "number", "minimum": -1.7e308, "maximum": 1.7e308, "multipleOf": 1e-308}),
        json!({"enum": []}),
        json!(false),
        json!({"$defs": doubling, "$ref": "#/$defs/d0"}),
        json!({"$defs": chain, "$ref": "#/$defs/d0"}),
    ];
    for schema in hopeless {
        let begun = Instant::now();
        first_value(&schema);
        let shown: String = schema.to_string().chars().take(100).collect();
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}: {shown}", begun.elapsed());
    }
}

fn with_schema(text: &str, seed: Option<u64>) -> Value {
    let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "maximum": 9e9}}});
    let mut body = chat(text);
    body["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "x", "schema": schema}});
    body["seed"] = json!(seed);
    body
}

#[tokio::test]
async fn the_server_answers_by_the_schema_alone() {
    let server = StubServer::start().await.unwrap();
    let content = async |body: &Value| ask(server.address(), body).await.unwrap().content();
    let first = content(&with_schema("a", Some(1))).await;
    assert!(serde_json::from_str::<Value>(&first).unwrap()["n"].is_i64());
    assert_eq!(content(&with_schema("another prompt", Some(1))).await, first);
    assert_eq!(content(&with_schema("a", Some(2))).await, first);

    assert_eq!(content(&chat(" What now? ")).await, "Stub answer to: What now?");
    let mut object = chat("a");
    object["response_format"] = json!({"type": "json_object"});
    assert_eq!(content(&object).await, r#"{"answer":"Stub answer to: a"}"#);
}

#[tokio::test]
async fn an_answer_keeps_to_max_tokens() {
    let server = StubServer::start().await.unwrap();
    for key in ["max_tokens", "max_completion_tokens"] {
        let mut body = chat("hello");
        body[key] = json!(2);
        let response = ask(server.address(), &body).await.unwrap();
        assert_eq!(response.content(), "Stub ans");
        assert_eq!(response.json()["choices"][0]["finish_reason"], "length");
        assert_eq!(response.json()["usage"]["completion_tokens"], 2);
    }
    let mut body = chat("hello");
    body["max_tokens"] = json!(1000);
    assert_eq!(ask(server.address(), &body).await.unwrap().json()["choices"][0]["finish_reason"], "stop");
    server.push(Reply::from_schema().finish_reason("content_filter"));
    let response = ask(server.address(), &body).await.unwrap();
    assert_eq!(response.json()["choices"][0]["finish_reason"], "content_filter");
}
