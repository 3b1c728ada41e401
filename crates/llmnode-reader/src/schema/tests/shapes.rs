//! Shapes where more than the schema counts: marks, added nulls, refusals. The others are snapshots (`tests/response_formats`).

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{plain, refused, strict};
use crate::OutputSchema;

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-llmnode-validated" = "Inner"))]
struct Inner {
    /// How many.
    count: u8,
}

fn inner() -> Value {
    json!({
        "type": "object",
        "properties": {"count": {"type": "integer", "minimum": 0, "maximum": 255, "description": "How many."}},
        "required": ["count"], "additionalProperties": false,
    })
}

/// An object schema as strict mode wants it.
fn object(properties: Value) -> Value {
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn with_defs(mut schema: Value, defs: Value) -> Value {
    schema["$defs"] = defs;
    schema
}

fn wrapped(value: Value) -> Value {
    object(json!({"value": value}))
}

#[test]
fn nested_structs_and_described_references() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    struct Outer {
        first_inner: Inner,
        /// The other.
        second: Inner,
        #[serde(rename = "sizes")]
        list: Vec<i32>,
        array: [u16; 3],
        flag: bool,
        ratio: f64,
        big: u64,
        time: std::time::Duration,
    }
    let schema = OutputSchema::of::<Outer>();
    assert_eq!(schema.marks, ["Inner"]);
    assert!(!schema.is_wrapped());
    let u16 = json!({"type": "integer", "minimum": 0, "maximum": 65535});
    let time = object(json!({
        "secs": {"type": "integer", "minimum": 0},
        "nanos": {"type": "integer", "minimum": 0, "maximum": u32::MAX},
    }));
    assert_eq!(
        strict(&schema),
        with_defs(
            object(json!({
                "firstInner": {"$ref": "#/$defs/Inner"},
                "second": {"description": "The other.", "anyOf": [{"$ref": "#/$defs/Inner"}]},
                "sizes": {"type": "array", "items": {"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX}},
                "array": {"type": "array", "items": u16, "minItems": 3, "maxItems": 3},
                "flag": {"type": "boolean"},
                "ratio": {"type": "number"},
                "big": {"type": "integer", "minimum": 0},
                "time": {"$ref": "#/$defs/Duration"},
            })),
            json!({"Inner": inner(), "Duration": time}),
        )
    );
    let plain = plain(&schema);
    assert_eq!(
        plain["properties"]["second"],
        json!({"$ref": "#/$defs/Inner", "description": "The other."})
    );
    assert!(plain.get("title").is_none() && plain.get("$schema").is_none());
    assert!(!plain.to_string().contains("allOf"));
    let order: Vec<&String> = plain["properties"].as_object().unwrap().keys().collect();
    assert_eq!(
        order,
        [
            "firstInner",
            "second",
            "sizes",
            "array",
            "flag",
            "ratio",
            "big",
            "time"
        ]
    );
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Tree {
    leaf: String,
    kids: Vec<Tree>,
    /// The left one.
    left: Option<Box<Tree>>,
}

#[test]
fn a_recursive_list_is_wrapped_around_its_definition() {
    #[derive(Deserialize, JsonSchema)]
    struct Nest(Vec<Nest>);
    let schema = OutputSchema::of::<Nest>();
    let list = json!({"type": "array", "items": {"$ref": "#/$defs/Nest"}});
    assert_eq!(
        strict(&schema),
        with_defs(wrapped(list.clone()), json!({"Nest": list}))
    );
}

#[test]
fn what_may_be_absent_becomes_nullable() {
    #[derive(Deserialize, Default, Serialize, JsonSchema)]
    enum Size {
        #[default]
        Small,
        Large,
    }
    #[derive(Deserialize, JsonSchema)]
    struct Optional {
        a: Option<String>,
        b: Option<Inner>,
        #[serde(default)]
        c: i32,
        #[serde(default)]
        d: Vec<String>,
        /// The size.
        #[serde(default)]
        e: Size,
        #[serde(default)]
        f: Option<bool>,
    }
    let schema = OutputSchema::of::<Optional>();
    assert_eq!(
        strict(&schema),
        with_defs(
            object(json!({
                "a": {"type": ["string", "null"]},
                "b": {"anyOf": [{"$ref": "#/$defs/Inner"}, {"type": "null"}]},
                "c": {"type": ["integer", "null"], "minimum": i32::MIN, "maximum": i32::MAX, "description": "(default: 0)"},
                "d": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
                "e": {"anyOf": [{"$ref": "#/$defs/Size"}, {"type": "null"}], "description": "The size. (default: \"Small\")"},
                "f": {"type": ["boolean", "null"]},
            })),
            json!({"Inner": inner(), "Size": {"type": "string", "enum": ["Small", "Large"]}}),
        )
    );
    assert!(plain(&schema).get("required").is_none());
    let mut answer =
        json!({"a": null, "b": null, "c": null, "d": null, "e": null, "f": null, "g": null});
    assert_eq!(super::drop_added_nulls(&schema, &mut answer), 3);
    assert_eq!(answer, json!({"a": null, "b": null, "f": null, "g": null}));
}

#[test]
fn an_externally_tagged_enum() {
    #[derive(Deserialize, JsonSchema)]
    enum External {
        Unit,
        New(Inner),
        Pair(u8, u8),
        Struct {
            #[serde(default)]
            a: bool,
        },
    }
    let schema = OutputSchema::of::<External>();
    let byte = json!({"type": "integer", "minimum": 0, "maximum": 255});
    assert_eq!(
        strict(&schema),
        with_defs(
            wrapped(json!({"anyOf": [
                {"type": "string", "enum": ["Unit"]},
                object(json!({"New": {"$ref": "#/$defs/Inner"}})),
                object(json!({"Pair": {"type": "array", "items": byte, "minItems": 2, "maxItems": 2}})),
                object(json!({"Struct": object(json!({"a": {"type": ["boolean", "null"], "description": "(default: false)"}}))})),
            ]})),
            json!({"Inner": inner()}),
        )
    );
    let mut answer = json!({"Struct": {"a": null}});
    assert_eq!(super::drop_added_nulls(&schema, &mut answer), 1);
    assert_eq!(answer, json!({"Struct": {}}));
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "type")]
enum Tagged {
    Unit,
    /// Has a count.
    New(Inner),
    Struct {
        #[serde(default)]
        a: i8,
    },
    Other {
        a: Option<i8>,
    },
}

fn tag(name: &str) -> Value {
    json!({"type": "string", "enum": [name]})
}

#[test]
fn an_internally_tagged_enum_has_its_content_beside_the_tag() {
    let schema = OutputSchema::of::<Tagged>();
    let mut new = inner();
    new["properties"] = json!({"type": tag("New"), "count": inner()["properties"]["count"]});
    new["required"] = json!(["type", "count"]);
    new["description"] = json!("Has a count.");
    let byte = |told| {
        let mut schema = json!({"type": ["integer", "null"], "minimum": -128, "maximum": 127});
        if told {
            schema["description"] = json!("(default: 0)");
        }
        schema
    };
    assert_eq!(
        strict(&schema),
        wrapped(json!({"anyOf": [
            object(json!({"type": tag("Unit")})),
            new,
            object(json!({"type": tag("Struct"), "a": byte(true)})),
            object(json!({"type": tag("Other"), "a": byte(false)})),
        ]}))
    );
    assert!(
        !schema.plain().get().contains("$ref"),
        "no reference beside other keywords is left"
    );
    for (name, dropped) in [("Struct", 1), ("Other", 0), ("Unit", 0)] {
        assert_eq!(
            super::drop_added_nulls(&schema, &mut json!({"type": name, "a": null})),
            dropped,
            "{name}"
        );
    }
}

#[test]
fn flattened_structs_and_enums_become_one_object_each() {
    #[derive(Deserialize, JsonSchema)]
    struct Flat {
        reason: String,
        #[serde(flatten)]
        inner: Inner,
    }
    let count = inner()["properties"]["count"].clone();
    assert_eq!(
        strict(&OutputSchema::of::<Flat>()),
        object(json!({"reason": {"type": "string"}, "count": count}))
    );

    #[derive(Deserialize, JsonSchema)]
    struct Act {
        reason: String,
        #[serde(flatten)]
        tagged: Tagged,
    }
    let schema = OutputSchema::of::<Act>();
    assert!(schema.is_wrapped());
    let branches = strict(&schema)["properties"]["value"]["anyOf"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(branches.len(), 4);
    assert_eq!(
        branches[0],
        object(json!({"reason": {"type": "string"}, "type": tag("Unit")}))
    );
    assert_eq!(branches[1]["required"], json!(["reason", "type", "count"]));

    #[derive(Deserialize, JsonSchema)]
    enum Kind {
        A { x: bool },
        B(Inner),
    }
    #[derive(Deserialize, JsonSchema)]
    struct Two {
        #[serde(flatten)]
        kind: Kind,
        #[serde(flatten)]
        tagged: Tagged,
    }
    let schema = OutputSchema::of::<Two>();
    assert_eq!(
        strict(&schema)["properties"]["value"]["anyOf"]
            .as_array()
            .unwrap()
            .len(),
        8
    );
    assert!(!schema.plain().get().contains("allOf"));
}

#[test]
fn newtypes_lists_scalars_and_options_as_the_root_are_wrapped() {
    #[derive(Deserialize, JsonSchema)]
    struct Name(#[allow(unused)] String);
    #[derive(Deserialize, JsonSchema)]
    struct Same(Inner);
    assert_eq!(
        strict(&OutputSchema::of::<Name>()),
        wrapped(json!({"type": "string"}))
    );
    assert_eq!(
        strict(&OutputSchema::of::<i32>()),
        wrapped(json!({"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX}))
    );
    assert_eq!(
        strict(&OutputSchema::of::<Vec<Inner>>()),
        with_defs(
            wrapped(json!({"type": "array", "items": {"$ref": "#/$defs/Inner"}})),
            json!({"Inner": inner()})
        )
    );
    assert_eq!(
        strict(&OutputSchema::of::<Option<Inner>>()),
        with_defs(
            wrapped(json!({"anyOf": [{"$ref": "#/$defs/Inner"}, {"type": "null"}]})),
            json!({"Inner": inner()})
        )
    );
    let same = OutputSchema::of::<Same>();
    assert!(!same.is_wrapped(), "the newtype of an object is an object");
    assert_eq!(strict(&same), inner());
    assert_eq!(
        strict(&OutputSchema::of::<Box<Tree>>()),
        strict(&OutputSchema::of::<Tree>())
    );
}

#[test]
fn maps_mixed_tuples_and_free_values_are_refused_with_their_place() {
    #[derive(Deserialize, JsonSchema)]
    struct Part {
        any: Value,
    }
    #[derive(Deserialize, JsonSchema)]
    struct Loose {
        map: HashMap<String, i32>,
        pair: (i32, String),
        parts: Vec<Part>,
        #[serde(flatten)]
        rest: HashMap<String, Value>,
    }
    assert_eq!(
        refused(&OutputSchema::of::<Loose>()),
        [
            "Loose: an object with free members beside the named ones",
            "Loose.map: a map with free keys",
            "Loose.pair: a tuple of mixed types",
            "Part.any: a value of any kind",
        ]
    );
    let loose = plain(&OutputSchema::of::<Loose>());
    assert!(loose["properties"]["pair"].get("prefixItems").is_some());
    assert_eq!(
        loose["$defs"]["Part"]["properties"]["any"],
        json!({}),
        "no reader of schemas refuses an object"
    );
    assert_eq!(loose["additionalProperties"], true);
    assert_eq!(
        refused(&OutputSchema::of::<HashMap<String, i32>>())[0],
        "Map_of_int32: a map with free keys"
    );
    assert!(OutputSchema::of::<Value>().is_wrapped());
    assert_eq!(
        refused(&OutputSchema::of::<Value>()),
        ["AnyValue.value: a value of any kind"]
    );
}
