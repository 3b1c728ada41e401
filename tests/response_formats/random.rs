//! Random schemas, which are known at run time only.

use llmnode::OutputSchema;
use llmnode_reader::ask::{Profile, sent};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::rules;

const NAMES: [&str; 5] = ["a", "b", "value", "x y", "ß/~%"];

fn reference() -> impl Strategy<Value = Value> {
    select(vec![
        "#/$defs/A",
        "#/$defs/B",
        "#",
        "#/properties/a",
        "other.json",
        "#/$defs/%41",
    ])
    .prop_map(|to| json!({"$ref": to}))
}

fn leaf() -> impl Strategy<Value = Value> {
    let known = vec![
        json!(true),
        json!(false),
        json!({}),
        json!({"type": "string", "minLength": 1, "pattern": "^(?=a)"}),
        json!({"type": "string", "format": "uuid", "description": "d"}),
        json!({"type": ["integer", "null"], "minimum": 0, "format": "uint8"}),
        json!({"type": "number", "default": 1.5}),
        json!({"enum": ["a", 1, null]}),
        json!({"enum": []}),
        json!({"const": {"a": 1}}),
        json!({"const": "c"}),
        json!({"type": "null"}),
        json!({"type": "oops"}),
        json!({"type": "object", "patternProperties": {"^\\d+$": {"type": "string"}}, "additionalProperties": false}),
        json!({"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": false}),
        json!({"type": "object", "required": ["a b", "c"], "minProperties": "1", "properties": null}),
        json!({"type": ["object", "null"], "additionalProperties": {}}),
        json!({"type": []}),
        json!({"not": {}}),
        json!(3),
    ];
    prop_oneof![select(known), reference()]
}

/// What a schema may say beside its shape.
fn beside() -> impl Strategy<Value = Vec<(String, Value)>> {
    let known = vec![
        ("description", json!("told")),
        ("type", json!("object")),
        ("type", json!("array")),
        ("type", json!(["object", "array"])),
        ("required", json!(["a", "b"])),
        ("additionalProperties", json!(false)),
        ("additionalProperties", json!({"type": "string"})),
        ("unevaluatedProperties", json!(false)),
        ("minItems", json!(2)),
        ("maxItems", json!(2)),
        ("uniqueItems", json!(true)),
        ("$ref", json!("#/$defs/A")),
        ("default", json!(null)),
        ("x-llmnode-validated", json!("mark")),
        ("title", json!("T")),
        ("if", json!({})),
    ];
    vec(
        select(known).prop_map(|(key, value)| (key.to_owned(), value)),
        0..3,
    )
}

fn schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 40, 4, |inner| {
        let named = vec((select(NAMES.to_vec()), inner.clone()), 0..4).prop_map(|all| {
            all.into_iter()
                .map(|(name, schema)| (name.to_owned(), schema))
                .collect::<Map<_, _>>()
        });
        let list = vec(inner.clone(), 0..4);
        let shape = prop_oneof![
            named
                .clone()
                .prop_map(|all| json!({"type": "object", "properties": all})),
            named.prop_map(|all| json!({"properties": all})),
            inner
                .clone()
                .prop_map(|item| json!({"type": "array", "items": item})),
            list.clone()
                .prop_map(|all| json!({"type": "array", "prefixItems": all})),
            list.clone().prop_map(|all| json!({"anyOf": all})),
            list.clone().prop_map(|all| json!({"oneOf": all})),
            list.prop_map(|all| json!({"allOf": all})),
            inner,
        ];
        (shape, beside()).prop_map(|(mut shape, beside)| {
            if let Some(node) = shape.as_object_mut() {
                for (key, value) in beside {
                    node.entry(key).or_insert(value);
                }
            }
            shape
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_schema_is_written_by_the_rules_or_refused(root in schema(), a in schema(), b in schema()) {
        let mut root = root;
        if let Some(node) = root.as_object_mut() {
            node.insert("$defs".to_owned(), json!({"A": a, "B": b}));
        }
        let schema = OutputSchema::from_value("any", root.clone());
        let plain: Value = serde_json::from_str(schema.plain().get()).unwrap();
        prop_assert_eq!(&plain["type"], "object", "{}", root);
        prop_assert!(!plain.to_string().contains("x-llmnode"));
        for profile in [Profile::Output, Profile::Function, Profile::Anthropic, Profile::Gemini, Profile::OpenApi] {
            let written: Value = serde_json::from_str(sent(&schema, profile).get()).unwrap();
            prop_assert_eq!(rules::sent(&written, &format!("{profile:?}")), Vec::<String>::new(), "{}\n{}", root, written);
        }
        match schema.strict() {
            Ok(strict) => {
                let strict: Value = serde_json::from_str(strict.get()).unwrap();
                prop_assert_eq!(rules::strict(&strict), Vec::<String>::new(), "{}\n{}", root, strict);
            }
            Err(error) => prop_assert_ne!(error.problems().len(), 0),
        }
    }
}
