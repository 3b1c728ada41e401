//! The JSON Schema of the format.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

use llmnode_graph::Registry;
use serde_json::{Value, json};

fn schema() -> Value {
    Registry::new().build().unwrap().schema()
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
        assert!(
            data["properties"]["label"].is_object() && data["properties"]["ui"].is_object(),
            "{kind}"
        );
        assert_eq!(data["additionalProperties"], json!(false), "{kind}");
    }
    let text = schema.to_string();
    assert!(
        !text.contains("x-seed") && !text.contains("x-what"),
        "{text}"
    );
    // Each reference leads somewhere.
    let mut open = vec![&schema];
    while let Some(part) = open.pop() {
        if let Some(to) = part.get("$ref").and_then(Value::as_str) {
            assert!(schema.pointer(&to[1..]).is_some(), "{to}");
        }
        open.extend(
            part.as_object()
                .into_iter()
                .flat_map(|members| members.values()),
        );
        open.extend(part.as_array().into_iter().flatten());
    }
}
