use serde_json::{Value, json};

use super::*;
use crate::json::Json;

fn violations_of(schema: &Value, value: &Value) -> Vec<String> {
    violations(&Rules::new(schema, schema), &Json::from(value), false)
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// What each form lacks, where several are equally close.
#[test]
fn a_value_of_no_form_is_told_what_each_lacks() {
    let of = |required: &[&str]| {
        let member = |name: &&str| ((*name).to_owned(), json!({"type": "integer", "maximum": 9}));
        let members: serde_json::Map<_, _> = required.iter().map(member).collect();
        json!({"type": "object", "properties": members, "required": required})
    };
    let forms =
        json!({"properties": {"of": {"anyOf": [of(&["kind", "path"]), of(&["kind", "url"])]}}});
    assert_eq!(
        violations_of(&forms, &json!({"of": {"kind": 1}})),
        [
            "of: matches none of the allowed forms: object with `kind`, `path` (missing property `path`); or object with `kind`, \
          `url` (missing property `url`)"
        ]
    );
    assert_eq!(
        violations_of(&forms, &json!({"of": {"kind": 10}})),
        [
            "of: matches none of the allowed forms: object with `kind`, `path` (missing property `path`, kind is 10, must be at \
          most 9); or object with `kind`, `url` (missing property `url`, kind is 10, must be at most 9)"
        ]
    );
    // As servers write that one of two members is needed.
    let either =
        json!({"type": "object", "anyOf": [{"required": ["path"]}, {"required": ["url"]}]});
    assert_eq!(
        violations_of(&either, &json!({"x": 1})),
        ["matches none of the allowed forms: object with `path`; or object with `url`"]
    );
    let many: Vec<Value> = (0..40)
        .map(|at| of(&["kind", &format!("member_{at}")]))
        .collect();
    let told = violations_of(&json!({"anyOf": many}), &json!({"kind": 1}));
    assert!(
        told.len() == 1 && told[0].len() < 900 && told[0].ends_with('…'),
        "{told:?}"
    );
}

#[test]
fn every_keyword_accepts_and_rejects() {
    for (schema, good, bad, message) in [
        (
            json!({"type": "integer"}),
            json!(1.0),
            json!(1.5),
            "is 1.5, expected integer",
        ),
        (
            json!({"type": ["string", "null"]}),
            json!(null),
            json!([]),
            "is an array, expected string or null",
        ),
        (
            json!({"enum": ["a", 1]}),
            json!(1.0),
            json!("b"),
            r#"is "b", which is not allowed; allowed: "a", "1""#,
        ),
        (
            json!({"const": {"a": [1]}}),
            json!({"a": [1.0]}),
            json!({"a": 1}),
            r#"is an object, which is not allowed; allowed: "{\"a\":[1]}""#,
        ),
        (
            json!({"const": 1, "enum": [1, 2]}),
            json!(1),
            json!(2),
            r#"is 2, which is not allowed; allowed: "1""#,
        ),
        (
            json!({"required": ["a"]}),
            json!({"a": null}),
            json!({}),
            "missing property `a`",
        ),
        (
            json!({"properties": {"a": {"type": "null"}}}),
            json!({"b": 1}),
            json!({"a": 1}),
            "a: is 1, expected null",
        ),
        (
            json!({"properties": {"a": {}}, "additionalProperties": false}),
            json!({"a": 1}),
            json!({"b": 1}),
            r#"unknown property `b`; allowed: "a""#,
        ),
        (
            json!({"additionalProperties": {"type": "string"}}),
            json!({"b": ""}),
            json!({"b": 1}),
            "b: is 1, expected string",
        ),
        (
            json!({"properties": {"a": false}}),
            json!({}),
            json!({"a": 1}),
            "a: must not be present",
        ),
        (
            json!({"minProperties": 1}),
            json!({"a": 1}),
            json!({}),
            "has 0 members, must have at least 1",
        ),
        (
            json!({"items": {"type": "string"}}),
            json!(["a"]),
            json!(["a", 1]),
            "[1]: is 1, expected string",
        ),
        (
            json!({"prefixItems": [{"type": "null"}], "items": false}),
            json!([null]),
            json!([null, 1]),
            "[1]: must not be present",
        ),
        (
            json!({"maxItems": 1}),
            json!([1]),
            json!([1, 2]),
            "has 2 items, must have at most 1",
        ),
        (
            json!({"uniqueItems": true}),
            json!([1, 2]),
            json!([1, 2, 1.0]),
            "[2]: appears twice",
        ),
        (
            json!({"minLength": 2}),
            json!("äö"),
            json!("ä"),
            "has 1 character, must have at least 2",
        ),
        (
            json!({"minimum": 1}),
            json!(1),
            json!(0),
            "is 0, must be at least 1",
        ),
        (
            json!({"maximum": 1.5}),
            json!(1.5),
            json!(2),
            "is 2, must be at most 1.5",
        ),
        (
            json!({"exclusiveMinimum": 1}),
            json!(2),
            json!(1),
            "is 1, must be more than 1",
        ),
        (
            json!({"exclusiveMaximum": 1}),
            json!(0),
            json!(1),
            "is 1, must be less than 1",
        ),
        (
            json!({"multipleOf": 0.1}),
            json!(0.3),
            json!(0.35),
            "is 0.35, must be a multiple of 0.1",
        ),
        (
            json!({"allOf": [{"minimum": 1}, {"maximum": 2}]}),
            json!(1),
            json!(3),
            "is 3, must be at most 2",
        ),
        (
            json!({"anyOf": [{"minimum": 1}, {"type": "string"}]}),
            json!(1),
            json!(0),
            "is 0, must be at least 1",
        ),
        (
            json!({"oneOf": [{"minimum": 1}, {"minimum": 2}]}),
            json!(1),
            json!(2),
            "matches 2 forms and must match only one",
        ),
        (
            json!({"not": {"type": "null"}}),
            json!(1),
            json!(null),
            "is null, which is not allowed",
        ),
        (
            json!({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "null"}}}),
            json!(null),
            json!(1),
            "is 1, expected null",
        ),
    ] {
        assert_eq!(
            violations_of(&schema, &good),
            Vec::<String>::new(),
            "{schema}"
        );
        assert_eq!(violations_of(&schema, &bad), [message], "{schema}");
    }
}

#[test]
fn all_that_is_wrong_is_said_with_its_path() {
    let item = json!({"type": "object", "properties": {"n": {"minimum": 0}}, "required": ["n"]});
    let schema = json!({"properties": {"items": {"items": item}, "name": {"type": "string"}}});
    let value = json!({"items": [{"n": -1}, {}, 7], "name": null});
    assert_eq!(
        violations_of(&schema, &value),
        [
            "items[0].n: is -1, must be at least 0",
            "items[1]: missing property `n`",
            "items[2]: is 7, expected object with `n`",
            "name: is null, expected string",
        ]
    );
}

#[test]
fn recursion_goes_as_deep_as_the_value() {
    let tree = json!({"type": "object", "properties": {"child": {"$ref": "#"}}, "additionalProperties": false});
    assert_eq!(
        violations_of(&tree, &json!({"child": {"child": {"x": 1}}})),
        [r#"child.child: unknown property `x`; allowed: "child""#]
    );
}

#[test]
fn what_takes_too_long_is_no_pass() {
    let node = json!({"anyOf": [
        {"properties": {"a": {"$ref": "#"}}, "required": ["b"]},
        {"properties": {"a": {"$ref": "#"}}, "required": ["c"]},
    ]});
    let deep = (0..100).fold(json!({}), |inner, _| json!({"a": inner}));
    assert!(
        !violations_of(&node, &deep)[0].contains("to be checked"),
        "each union is looked at once a place"
    );
    let long = json!((0..10_000).collect::<Vec<_>>());
    assert!(violations_of(&json!({"uniqueItems": true}), &long)[0].contains("to be checked"));
}

#[test]
fn large_numbers_are_told_from_their_neighbours() {
    let fits = |schema: Value, value: Value| violations_of(&schema, &value).is_empty();
    let (id, next) = (9_007_199_254_740_992_u64, 9_007_199_254_740_993_u64);
    assert!(fits(json!({"uniqueItems": true}), json!([id, next])));
    assert!(!fits(json!({"enum": [id]}), json!(next)) && fits(json!({"const": next}), json!(next)));
    assert!(
        !fits(json!({"maximum": id}), json!(next))
            && !fits(json!({"minimum": -1}), json!(i64::MIN))
    );
    assert!(fits(
        json!({"exclusiveMaximum": u64::MAX}),
        json!(u64::MAX - 1)
    ));
}

#[test]
fn a_multiple_is_exact_up_to_what_floating_point_makes_of_it() {
    let fits =
        |of: Value, value: Value| violations_of(&json!({"multipleOf": of}), &value).is_empty();
    assert!(fits(json!(1000), json!(1_700_000_000_000_u64)));
    assert!(!fits(json!(1000), json!(1_700_000_000_001_u64)));
    assert!(!fits(json!(1), json!(10_000_000_000.5)));
    assert!(!fits(json!(10_000_000_000_u64), json!(5)) && fits(json!(7), json!(0)));
    let cent = json!({"multipleOf": 0.01});
    let rules = Rules::new(&cent, &cent);
    for cents in 0..100_000 {
        let price = format!("{}.{:02}", cents / 100, cents % 100)
            .parse::<f64>()
            .unwrap();
        assert!(
            violations(&rules, &Json::from(&json!(price)), false).is_empty(),
            "{price}"
        );
    }
}
