//! The JSON Schema of the format that is checked in is that of the types. `LLMNODE_UPDATE=1 cargo test -p llmnode-graph
//! --test schema` updates it.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

use llmnode_graph::Registry;
use serde_json::{Value, json};

fn schema() -> Value {
    Registry::new().build().unwrap().schema()
}

#[test]
fn the_schema_that_is_checked_in_is_that_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("graph.schema.json");
    let own = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("LLMNODE_UPDATE").is_some() && std::env::var_os("CI").is_none() {
        fs::write(&path, &own).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == own, "graph.schema.json is not that of the types: run this test with LLMNODE_UPDATE=1");
}

#[test]
fn it_names_the_settings_of_each_type_and_allows_no_others() {
    let schema = schema();
    let defs = &schema["$defs"];
    for (kind, setting) in [
        ("agent", "system_prompt"),
        ("tool", "tool_name"),
        ("router", "routes"),
        ("iterator", "restart"),
        ("subgraph", "flow_id"),
    ] {
        let data = &defs[format!("{kind}_data")];
        assert!(data["properties"][setting].is_object(), "{kind}: {data}");
        assert!(data["properties"]["label"].is_object() && data["properties"]["ui"].is_object(), "{kind}");
        assert_eq!(data["additionalProperties"], json!(false), "{kind}");
    }
    let text = schema.to_string();
    assert!(!text.contains("x-seed") && !text.contains("x-what"), "{text}");
    // Each reference leads somewhere.
    let mut open = vec![&schema];
    while let Some(part) = open.pop() {
        if let Some(to) = part.get("$ref").and_then(Value::as_str) {
            assert!(schema.pointer(&to[1..]).is_some(), "{to}");
        }
        open.extend(part.as_object().into_iter().flat_map(|members| members.values()));
        open.extend(part.as_array().into_iter().flatten());
    }
}
