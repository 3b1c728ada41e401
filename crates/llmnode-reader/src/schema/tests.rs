//! Both dialects of every shape that serde and schemars give a type.
#![allow(dead_code)]

mod choices;
mod form;
mod hostile;
mod rules;
mod shapes;

use serde_json::{Value, json};

use super::OutputSchema;

pub(super) fn plain(schema: &OutputSchema) -> Value {
    serde_json::from_str(schema.plain().get()).unwrap()
}

/// The strict dialect, which must keep OpenAI's rules, and what Gemini and
/// Anthropic get of it must keep theirs (W26).
pub(super) fn strict(schema: &OutputSchema) -> Value {
    let strict = serde_json::from_str(schema.strict().unwrap().get()).unwrap();
    assert_eq!(rules::strict(&strict), Vec::<String>::new());
    let gemini = schema
        .gemini()
        .map(|schema| serde_json::from_str(schema.get()).unwrap());
    assert_eq!(
        gemini.as_ref().map(rules::gemini).unwrap_or_default(),
        Vec::<String>::new()
    );
    let anthropic = schema
        .anthropic()
        .map(|schema| serde_json::from_str(schema.get()).unwrap());
    assert_eq!(
        anthropic.as_ref().map(rules::anthropic).unwrap_or_default(),
        Vec::<String>::new()
    );
    strict
}

/// The refused places, as `path: what`.
pub(super) fn refused(schema: &OutputSchema) -> Vec<String> {
    let error = schema.strict().unwrap_err();
    error
        .problems()
        .map(|(path, what, _)| format!("{path}: {what}"))
        .collect()
}

#[test]
fn a_schema_is_built_once_per_type_and_said_in_the_same_words() {
    #[derive(schemars::JsonSchema)]
    struct Once {
        a: String,
    }
    let one = OutputSchema::of::<Once>();
    assert!(std::sync::Arc::ptr_eq(&one, &OutputSchema::of::<Once>()));
    assert!(std::ptr::eq(one.strict().unwrap(), one.strict().unwrap()));
    let again = OutputSchema::from_value("Once", schemars::schema_for!(Once).to_value());
    assert_eq!(one.plain().get(), again.plain().get());
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&one);
}

#[test]
fn the_error_of_strict_mode_is_taken_once() {
    let cannot = OutputSchema::from_value("Any", json!({}));
    let fits = OutputSchema::from_value("Text", json!({"type": "string"}));
    let taken = (0..3).map(|_| {
        (
            cannot.take_strict_error().is_some(),
            fits.take_strict_error().is_some(),
        )
    });
    assert_eq!(
        taken.collect::<Vec<_>>(),
        [(true, false), (false, false), (false, false)]
    );
}

#[test]
fn names_are_what_openai_accepts() {
    for (name, sanitised) in [
        ("Choice", "Choice"),
        ("", "output"),
        ("Ärger mit <T>", "_rger_mit__T_"),
        ("a-b_1", "a-b_1"),
    ] {
        assert_eq!(OutputSchema::from_value(name, json!({})).name(), sanitised);
    }
    assert_eq!(
        OutputSchema::from_value(&"x".repeat(100), json!({}))
            .name()
            .len(),
        64
    );
}

#[test]
fn marks_are_collected_once_each_and_sent_to_nobody() {
    let schema = OutputSchema::from_value(
        "T",
        json!({
            "type": "object", "x-llmnode-validated": "a::T", "title": "T",
            "properties": {
                "title": {"type": "string", "title": "Title"},
                "one": {"$ref": "#/$defs/One"}, "many": {"type": "array", "items": {"$ref": "#/$defs/One"}},
            },
            "required": ["title", "one", "many"],
            "$defs": {"One": {"type": "string", "x-llmnode-validated": "a::One"}, "Unused": {"type": "null"}},
        }),
    );
    assert_eq!(schema.marks, ["a::T", "a::One"]);
    let plain = plain(&schema);
    assert!(!plain.to_string().contains("x-llmnode"));
    assert_eq!(
        plain["properties"]["title"],
        json!({"type": "string"}),
        "the keyword goes, the property stays"
    );
    assert_eq!(plain["$defs"], json!({"One": {"type": "string"}}));
    assert!(!strict(&schema).to_string().contains("x-llmnode"));
}

#[test]
fn every_place_that_strict_mode_refuses_is_named_with_its_remedy() {
    let schema = OutputSchema::from_value(
        "Report",
        json!({
            "type": "object",
            "properties": {
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "any": true,
                "told": {"description": "free"},
                "list": {"type": "array"},
                "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "null"}], "minItems": 2, "maxItems": 2},
                "steps": {"type": "array", "items": {"$ref": "#/$defs/Step"}},
                "far": {"$ref": "other.json"},
                "all": {"allOf": [{"type": "string"}, {"type": "null"}]},
            },
            "$defs": {"Step": {"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": true}},
        }),
    );
    assert_eq!(
        refused(&schema),
        [
            "Report.labels: a map with free keys",
            "Report.any: a value of any kind",
            "Report.told: a value of any kind",
            "Report.list[]: a value of any kind",
            "Report.pair: a tuple of mixed types",
            "Report.far: a reference out of `$defs`",
            "Report.all: several schemas at once that can't be merged",
            "Step: an object with free members beside the named ones",
        ]
    );
    let told = schema.strict().unwrap_err().to_string();
    assert!(told.starts_with(
        "the schema of `Report` can't be expressed in OpenAI's strict dialect: `Report.labels` is a map"
    ));
    assert!(told.contains("use a list of structs with a key and a value"));
}

#[test]
fn definitions_that_contain_only_themselves_end() {
    let trap = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A", "minLength": 1}, "b": {"$ref": "#/$defs/B"}, "c": {"$ref": "#/$defs/C"}},
        "$defs": {
            "A": {"$ref": "#/$defs/A"},
            "B": {"anyOf": [{"$ref": "#/$defs/B"}, {"$ref": "#/$defs/B"}]},
            "C": {"$ref": "#/$defs/C", "properties": {"x": {"type": "string"}}, "type": "object"},
        },
    });
    let schema = OutputSchema::from_value("Trap", trap);
    let _ = schema.strict();
    let mut value = json!({"a": null, "b": {"x": null}, "c": {"x": null}});
    drop_added_nulls(&schema, &mut value);

    let root = OutputSchema::from_value(
        "R",
        json!({"$ref": "#/$defs/R", "$defs": {"R": {"$ref": "#"}}}),
    );
    let _ = root.strict();
    let deep = (0..25).map(|i| {
        let next = json!({"$ref": format!("#/$defs/D{}", i + 1), "minProperties": 1});
        (
            format!("D{i}"),
            json!({"type": "object", "properties": {"a": next, "b": next}}),
        )
    });
    let mut defs: serde_json::Map<String, Value> = deep.collect();
    defs.insert("D25".to_owned(), json!({"type": "object"}));
    let schema =
        json!({"type": "object", "properties": {"d": {"$ref": "#/$defs/D0"}}, "$defs": defs});
    assert!(
        OutputSchema::from_value("Doubling", schema)
            .plain()
            .get()
            .len()
            < 10_000_000
    );
}

#[test]
fn any_json_is_taken_as_a_schema_without_a_panic() {
    for schema in [
        json!(null),
        json!(true),
        json!(3),
        json!([]),
        json!({"properties": 3, "required": "a", "$defs": [], "anyOf": {}, "type": 7}),
        json!({"type": ["object", "null"], "properties": {"a": {"enum": 3}}, "$ref": 4}),
        json!({"anyOf": [], "type": "object"}),
        json!({"$ref": "#/$defs/%zz", "$defs": {"%": {"$ref": "#/$defs/%E2%82"}}}),
        json!({"allOf": [true, {"type": "object"}], "oneOf": [false]}),
        json!({"$ref": "#/properties/a/b", "properties": {"a": {"$ref": "#"}}}),
    ] {
        let schema = OutputSchema::from_value("x", schema);
        let _ = schema.strict();
        drop_added_nulls(&schema, &mut json!({"a": null, "value": [null]}));
    }
}

#[test]
fn an_added_null_is_dropped_and_counted() {
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema counts")]
    struct Search {
        query: String,
        #[schemars(default)]
        page: u32,
    }
    let mut answer = json!({"query": "rust", "page": null});
    assert_eq!(
        drop_added_nulls(&OutputSchema::of::<Search>(), &mut answer),
        1
    );
    assert_eq!(answer, json!({"query": "rust"}));
}

/// Removes `null`s of absent members, as the reader does; returns how many there were.
fn drop_added_nulls(schema: &OutputSchema, value: &mut Value) -> usize {
    use crate::{check::CheckMode, coerce};
    fn nulls(value: &Value) -> usize {
        match value {
            Value::Null => 1,
            Value::Array(items) => items.iter().map(nulls).sum(),
            Value::Object(members) => members.values().map(nulls).sum(),
            _ => 0,
        }
    }
    let before = nulls(value);
    let json = crate::json::Json::from(&*value);
    let allow = coerce::CoerceOptions {
        changes: false,
        lists: false,
    };
    let coerced = coerce::coerce(&schema.rules, CheckMode::Type, json, allow)
        .json
        .to_string();
    *value = serde_json::from_str(&coerced).unwrap();
    before - nulls(value)
}
