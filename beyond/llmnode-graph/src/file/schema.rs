//! The JSON Schema of the format, for editors.

use serde_json::{Map, Value, json};

use super::schema_check::{FRONT_END, X_SEED, X_WHAT};
use super::text::{CommonText, FileText};

pub(crate) fn schema<'t>(types: impl IntoIterator<Item = (Vec<&'t str>, Value)>) -> Value {
    let mut file = schemars::schema_for!(FileText).to_value();
    let mut defs = take_defs(&mut file);
    let mut listed = Vec::new();
    let mut cases = Vec::new();
    for (names, mut data) in types {
        let Some(data_name) = names.first().map(|name| format!("{name}_data")) else {
            continue;
        };
        for (name, mut def) in take_defs(&mut data) {
            renamed(&mut def, &data_name);
            defs.insert(format!("{data_name}_{name}"), def);
        }
        renamed(&mut data, &data_name);
        with_common(&mut data);
        defs.insert(data_name.clone(), data);
        cases.push(json!({
            "if": {"properties": {"type": {"enum": names}}},
            "then": {"properties": {"data": {"$ref": format!("#/$defs/{data_name}")}}},
        }));
        listed.extend(names.into_iter().map(str::to_owned));
    }
    if let Some(node) = defs.get_mut("NodeText").and_then(Value::as_object_mut) {
        if let Some(kind) = node
            .get_mut("properties")
            .and_then(|members| members.get_mut("type"))
        {
            let description = kind.get("description").cloned().unwrap_or_default();
            *kind = json!({"description": description, "anyOf": [{"enum": listed}, {"type": "string"}]});
        }
        node.insert("allOf".to_owned(), Value::Array(cases));
    }
    file["required"] = json!(["format", "version", "nodes"]);
    file["$defs"] = Value::Object(defs);
    closed(&mut file);
    file
}

fn take_defs(schema: &mut Value) -> Map<String, Value> {
    match schema
        .as_object_mut()
        .and_then(|rules| rules.remove("$defs"))
    {
        Some(Value::Object(defs)) => defs,
        _ => Map::new(),
    }
}

pub(crate) fn with_common(data: &mut Value) {
    let mut common = schemars::schema_for!(CommonText).to_value();
    if let Some(members) = data.get_mut("properties").and_then(Value::as_object_mut)
        && let Some(Value::Object(common)) = common.get_mut("properties").map(Value::take)
    {
        members.extend(common);
    }
}

fn renamed(schema: &mut Value, data_name: &str) {
    match schema {
        Value::Object(rules) => {
            rules.remove("$schema");
            rules.remove("title");
            for (name, rule) in rules.iter_mut() {
                match rule {
                    Value::String(to) if name == "$ref" => {
                        *to = to.replace("#/$defs/", &format!("#/$defs/{data_name}_"));
                    }
                    rule => renamed(rule, data_name),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|rule| renamed(rule, data_name)),
        _ => {}
    }
}

/// Our own format has no other members; those of a front end are allowed.
fn closed(schema: &mut Value) {
    match schema {
        Value::Object(rules) => {
            rules.remove(X_SEED);
            rules.remove(X_WHAT);
            let is_open = rules.contains_key("additionalProperties");
            let is_object = rules.get("type").is_some_and(|kind| kind == "object");
            if is_object
                && !is_open
                && let Some(members) = rules.get_mut("properties").and_then(Value::as_object_mut)
            {
                for name in FRONT_END {
                    members
                        .entry(*name)
                        .or_insert_with(|| json!({"description": "Of the front end."}));
                }
                rules.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            rules.values_mut().for_each(closed);
        }
        Value::Array(list) => list.iter_mut().for_each(closed),
        _ => {}
    }
}
