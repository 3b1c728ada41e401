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
use crate::sample::sample;
use crate::{StubReply, StubServer};

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_value_satisfies_its_schema(schema in schemas()) {
        prop_assert_eq!(sample(&schema), sample(&schema));
        if let Ok(value) = sample(&schema)
            && let Err(why) = check(&schema, &schema, &value)
        {
            return Err(TestCaseError::fail(format!("{why}\nschema: {schema}\nvalue: {value}")));
        }
    }

    #[test]
    fn no_json_at_all_is_a_schema_that_breaks_it(text in "[\\[\\]{}\",:a-z0-9$#/ .-]{0,80}", depth in 0..20_usize) {
        let noise = serde_json::from_str(&text).unwrap_or(Value::String(text));
        let keys = ["type", "$ref", "anyOf", "items", "enum", "required", "minimum", "pattern", "properties"];
        let odd = keys.iter().fold(noise, |inner, key| json!({*key: inner}));
        let deep = (0..depth).fold(odd, |inner, _| json!({"anyOf": [inner], "minItems": -1}));
        let _ = sample(&deep);
    }
}

/// The checker itself must be able to say no.
#[test]
fn the_checker_refuses() {
    let refused = [
        (json!({"type": "integer"}), json!(1.5)),
        (
            json!({"oneOf": [{"type": "number"}, {"minimum": 0}]}),
            json!(1),
        ),
        (json!({"type": "object", "required": ["a"]}), json!({})),
        (json!({"additionalProperties": false}), json!({"a": 1})),
        (json!({"items": {"maxLength": 2}}), json!(["abc"])),
        (json!({"multipleOf": 0.1}), json!(0.25)),
        (json!({"uniqueItems": true}), json!([1, 1])),
        (json!({"format": "date"}), json!("2020-1-1")),
        (json!({"pattern": PATTERNS[0].0}), json!("AB-12x")),
        (
            json!({"$defs": {"a": {"const": 1}}, "$ref": "#/$defs/a"}),
            json!(2),
        ),
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
    let value = sample(&schema).unwrap();
    let read: Result<Everything, _> = serde_json::from_value(value.clone());
    let read = read.unwrap_or_else(|error| panic!("{error}\n{value}"));
    assert_eq!(read.few, 3);
}

/// What the docs of `StubReply::from_schema` promise.
#[test]
fn the_value_is_a_plain_one() {
    let cases = [
        (json!({"type": ["string", "null"]}), json!("text")),
        (json!({"enum": ["b", "a"]}), json!("b")),
        (json!({"type": "string", "default": "d"}), json!("d")),
        (
            json!({"anyOf": [{"type": "null"}, {"type": "boolean"}]}),
            json!(null),
        ),
        (
            json!({"oneOf": [{"pattern": "a"}, {"type": "boolean"}]}),
            json!(false),
        ),
        (
            json!({"$defs": {"a": {"const": 1}}, "$ref": "#/$defs/a", "description": "d"}),
            json!(1),
        ),
        (json!({"type": "string", "minLength": 6}), json!("textte")),
        (json!({"type": "string", "maxLength": 2}), json!("te")),
        (
            json!({"type": "array", "items": {"type": "integer"}, "maxItems": 3}),
            json!([]),
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}, "minItems": 2}),
            json!([0, 0]),
        ),
        (
            json!({"type": "array", "prefixItems": [{"const": 1}], "items": true, "minItems": 2}),
            json!([1, "text"]),
        ),
        (
            json!({"type": "object", "properties": {"a": {"const": 1}, "b": false}, "required": ["a"]}),
            json!({"a": 1}),
        ),
        (
            json!({"required": ["a"], "additionalProperties": {"type": "integer"}}),
            json!({"a": 0}),
        ),
    ];
    for (schema, expected) in cases {
        assert_eq!(sample(&schema), Ok(expected), "{schema}");
    }
}

/// What is beyond this is named, with its place.
#[test]
fn what_has_no_value_is_named() {
    let tree = json!({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]});
    let cases = [
        (json!({"pattern": "^a$"}), "`pattern` at `#`"),
        (
            json!({"type": "string", "format": "uuid"}),
            "`format` at `#`",
        ),
        (
            json!({"type": "integer", "multipleOf": 3}),
            "`multipleOf` at `#`",
        ),
        (json!({"allOf": [true]}), "`allOf` at `#`"),
        (json!({"type": "object", "anyOf": [true]}), "`type` at `#`"),
        (
            json!({"type": "array", "minItems": 2, "uniqueItems": true}),
            "`uniqueItems` at `#`",
        ),
        (
            json!({"type": "object", "minProperties": 1}),
            "`minProperties` at `#`",
        ),
        (
            json!({"type": "array", "items": {"anyOf": [{"not": {}}]}, "minItems": 1}),
            "`not` at `#/items/anyOf/0`",
        ),
        (json!({"enum": []}), "`enum` at `#`"),
        (json!({"type": "file"}), "`type` at `#`"),
        (json!(false), "`false` at `#`"),
        (tree, "`$ref` at `#/properties/a`"),
    ];
    for (schema, fault) in cases {
        assert_eq!(sample(&schema), Err(fault.to_owned()), "{schema}");
    }
}

/// A type within itself ends at once.
#[test]
fn recursion_ends() {
    assert_eq!(
        sample(&schemars::schema_for!(Tree).to_value()),
        Ok(json!({"more": []}))
    );
    let node = json!({"type": "object", "required": ["next"], "properties":
        {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}});
    let list = json!({"$defs": {"node": node}, "$ref": "#/$defs/node"});
    assert_eq!(sample(&list), Ok(json!({"next": null})));
}

#[test]
fn numbers_are_the_lowest() {
    let cases = [
        (json!({"type": "integer"}), Some(json!(0))),
        (
            json!({"type": "integer", "minimum": -9, "maximum": 5}),
            Some(json!(-9)),
        ),
        (
            json!({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 4}),
            Some(json!(2)),
        ),
        (
            json!({"type": "integer", "minimum": 0.5, "maximum": 2.5}),
            Some(json!(1)),
        ),
        (json!({"type": "integer", "maximum": -1.5}), Some(json!(-2))),
        (
            json!({"type": "integer", "exclusiveMaximum": 0}),
            Some(json!(-1)),
        ),
        (
            json!({"type": "integer", "format": "int8", "minimum": 126}),
            Some(json!(126)),
        ),
        (
            json!({"type": "number", "maximum": -1.5}),
            Some(json!(-1.5)),
        ),
        (
            json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
            Some(json!(0.5)),
        ),
        (
            json!({"type": "number", "exclusiveMinimum": 0, "minimum": -1}),
            Some(json!(1.0)),
        ),
        (
            json!({"type": "number", "minimum": 0.125, "maximum": 0.125}),
            Some(json!(0.125)),
        ),
        (json!({"type": "integer", "minimum": 5, "maximum": 1}), None),
        (json!({"type": "integer", "minimum": 1e300}), None),
        (
            json!({"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 1}),
            None,
        ),
    ];
    for (schema, expected) in cases {
        assert_eq!(sample(&schema).ok(), expected, "{schema}");
    }
}

/// Schemas without a finite value, and demands beyond all measure: an end in short time all the same.
#[test]
fn hopeless_schemas_end() {
    let refers = |to: usize| json!({"$ref": format!("#/$defs/d{to}")});
    let doubling: serde_json::Map<String, Value> = (0..40)
        .map(|n| {
            (
                format!("d{n}"),
                json!({"anyOf": [refers(n + 1), refers(n + 1)]}),
            )
        })
        .collect();
    let wide: serde_json::Map<String, Value> = (0..40)
        .map(|n| {
            (
                format!("d{n}"),
                json!({"type": "array", "items": refers(n + 1), "minItems": 2}),
            )
        })
        .collect();
    let chain: serde_json::Map<String, Value> = (0..2000)
        .map(|n| {
            let next = refers(n + 1);
            (
                format!("d{n}"),
                json!({"type": "object", "properties": {"next": next}, "required": ["next"]}),
            )
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
        json!({"type": "string", "minLength": u64::MAX}),
        json!({"type": "string", "minLength": 5, "maxLength": 1}),
        json!({"$defs": doubling, "$ref": "#/$defs/d0"}),
        json!({"$defs": wide, "$ref": "#/$defs/d0"}),
        json!({"$defs": chain, "$ref": "#/$defs/d0"}),
    ];
    for schema in hopeless {
        let begun = Instant::now();
        let shown: String = schema.to_string().chars().take(100).collect();
        assert!(sample(&schema).is_err(), "{shown}");
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "{:?}: {shown}",
            begun.elapsed()
        );
    }
}

fn with_schema(text: &str, seed: Option<u64>) -> Value {
    let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "maximum": 9e9}}});
    let mut body = chat(text);
    body["response_format"] =
        json!({"type": "json_schema", "json_schema": {"name": "x", "schema": schema}});
    body["seed"] = json!(seed);
    body
}

#[tokio::test]
async fn the_server_answers_by_the_schema_alone() {
    let server = StubServer::start().await.unwrap();
    let content = async |body: &Value| ask(server.address(), body).await.unwrap().content();
    let first = content(&with_schema("a", Some(1))).await;
    assert!(serde_json::from_str::<Value>(&first).unwrap()["n"].is_i64());
    assert_eq!(
        content(&with_schema("another prompt", Some(1))).await,
        first
    );
    assert_eq!(content(&with_schema("a", Some(2))).await, first);

    assert_eq!(
        content(&chat(" What now? ")).await,
        "Stub answer to: What now?"
    );
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
    assert_eq!(
        ask(server.address(), &body).await.unwrap().json()["choices"][0]["finish_reason"],
        "stop"
    );
    server.push(StubReply::from_schema().finish_reason("content_filter"));
    let response = ask(server.address(), &body).await.unwrap();
    assert_eq!(
        response.json()["choices"][0]["finish_reason"],
        "content_filter"
    );
}

#[tokio::test]
async fn a_request_without_a_reply_is_told_what_to_script() {
    let server = StubServer::start().await.unwrap();
    let schema = json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string", "format": "uuid"}}});
    let mut body = chat("a");
    body["response_format"] =
        json!({"type": "json_schema", "json_schema": {"name": "x", "schema": schema}});
    let response = ask(server.address(), &body).await.unwrap();
    let error = &response.json()["error"];
    assert_eq!(
        (response.status, &error["code"]),
        (400, &json!("no_scripted_reply"))
    );
    assert_eq!(
        error["message"],
        "StubServer: no reply is scripted for this request, and none can be made up from its schema because of \
         `format` at `#/properties/id`; script one, such as `StubReply::json(..)`"
    );
    server.push(StubReply::json(
        json!({"id": "67e55044-10b1-426f-9247-bb680e5fe0c8"}),
    ));
    assert_eq!(ask(server.address(), &body).await.unwrap().status, 200);
}
