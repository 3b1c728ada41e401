//! Schemas that are made to be too much.

use serde_json::{Map, Value, json};

use crate::OutputSchema;

/// The refused places of a schema in the strict dialect, each as its line.
fn refused(schema: &OutputSchema) -> String {
    schema
        .strict()
        .map_or_else(|error| error.to_string(), |_| String::new())
}

fn object(properties: impl IntoIterator<Item = (String, Value)>) -> Value {
    let properties: Map<String, Value> = properties.into_iter().collect();
    let required: Vec<&String> = properties.keys().collect();
    json!({"type": "object", "required": required, "properties": properties})
}

/// On a stack as small as any thread's.
fn on_a_small_stack(check: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .stack_size(512 * 1024)
        .spawn(check)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn a_schema_of_any_depth_is_cut_and_strict_mode_says_so() {
    on_a_small_stack(|| {
        let deep = (0..100_000).fold(Value::Object(Map::new()), |inner, _| {
            Value::Object(Map::from_iter([("items".to_owned(), inner)]))
        });
        let schema = OutputSchema::from_value("Deep", deep);
        assert!(schema.plain().get().len() < 2000);
        assert!(refused(&schema).contains("`Deep` is nested too deep for any reader of JSON"));
        super::drop_added_nulls(&schema, &mut json!({"value": [[[null]]]}));
    });
}

#[test]
fn references_in_a_circle_or_in_a_long_row_end() {
    on_a_small_stack(|| {
        let reference = |to: usize| json!({"$ref": format!("#/$defs/D{to}"), "minProperties": 1});
        for around in [
            |inner| json!({"type": "object", "properties": {"a": inner}, "required": ["a"]}),
            |inner| inner,
            |inner| json!({"anyOf": [inner, {"type": "object"}]}),
            |inner| json!({"allOf": [inner, {"type": "object"}]}),
        ] as [fn(Value) -> Value; 4]
        {
            for (count, last) in [(2000, 1999), (2, 0), (1, 0)] {
                let defs = (0..count).map(|at| {
                    let next = if at + 1 < count { at + 1 } else { last };
                    (format!("D{at}"), around(reference(next)))
                });
                let defs = Value::Object(defs.collect());
                let root =
                    json!({"type": "object", "properties": {"d": reference(0)}, "$defs": defs});
                let schema = OutputSchema::from_value("Row", root);
                let _ = refused(&schema);
                super::drop_added_nulls(&schema, &mut json!({"d": {"a": {"a": null}}}));
            }
        }
    });
}

/// A definition that refers to itself from many places, so that looking again at
/// each would never end.
#[test]
fn unions_of_a_type_with_itself_are_looked_through_once() {
    let again: Vec<Value> = vec![json!({"$ref": "#/$defs/U"}); 200];
    let root = object([("u".to_owned(), json!({"$ref": "#/$defs/U"}))]);
    let mut root = root;
    root["$defs"] = json!({"U": {"anyOf": again}});
    let schema = OutputSchema::from_value("Union", root);
    super::drop_added_nulls(&schema, &mut json!({"u": {"u": null}}));
    let _ = refused(&schema);
}

#[test]
fn what_is_too_large_for_strict_mode_is_told_before_the_call() {
    let string = || json!({"type": "string"});
    let named = |count: usize| (0..count).map(move |at| (format!("p{at}"), string()));
    let words = |count: usize, length: usize| -> Vec<String> {
        (0..count).map(|at| format!("{at:0length$}")).collect()
    };
    let holding =
        |values: Vec<String>| object([("e".to_owned(), json!({"type": "string", "enum": values}))]);
    let nested = |levels: usize| {
        (1..levels).fold(object([("s".to_owned(), string())]), |inner, _| {
            object([("o".to_owned(), inner)])
        })
    };
    let long_names =
        |count: usize| named(count).map(|(name, schema)| (format!("{name:0>60}"), schema));
    for (schema, fault) in [
        (object(named(5000)), ""),
        (object(named(5001)), "more than 5000 properties"),
        (nested(10), ""),
        (nested(11), "more than 10 levels of objects"),
        (holding(words(1000, 4)), ""),
        (holding(words(1001, 4)), "more than 1000 values"),
        (holding(words(250, 100)), ""),
        (holding(words(251, 60)), "more than 15000 characters"),
        (object(long_names(2000)), ""),
        (object(long_names(2001)), "more than 120000 characters"),
    ] {
        let told = refused(&OutputSchema::from_value("Large", schema));
        assert!(
            if fault.is_empty() {
                told.is_empty()
            } else {
                told.contains(fault)
            },
            "{fault}: {told}"
        );
    }
}

/// A chain of eleven types, each within the other; and one that is deep only
/// because it contains itself.
#[test]
fn levels_are_counted_through_references() {
    let link = |at: usize| object([("next".to_owned(), json!({"$ref": format!("#/$defs/D{at}")}))]);
    let chain = |count: usize| {
        let defs = (1..count).map(|at| {
            (
                format!("D{at}"),
                if at + 1 < count {
                    link(at + 1)
                } else {
                    object([])
                },
            )
        });
        let mut root = link(1);
        root["$defs"] = Value::Object(defs.collect());
        OutputSchema::from_value("Chain", root)
    };
    assert_eq!(refused(&chain(10)), "");
    assert!(refused(&chain(11)).contains("more than 10 levels"));
    let mut list = link(1);
    list["$defs"] = json!({"D1": link(1)});
    assert_eq!(refused(&OutputSchema::from_value("List", list)), "");
}
