//! Translates the settings of React Flow's files into those of our format.
//!
//! Each setting that gets another name or form keeps where it came from (`origin`), so that faults name the place in the file that a
//! person has.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::data::NodeSettings;
use super::describe::describe;
use crate::faults::{FaultKind, Faults, escaped, shown};

/// By the type of the node. `null` counts as absent.
pub(super) fn translate(kind: &str, data: &mut NodeSettings, faults: &mut Faults) {
    data.values.retain(|_, value| !value.is_null());
    match kind {
        "agent" => {
            data.rename("profile_id", "profile");
            data.text("profile");
            digits(&mut data.values, "max_iterations");
            output_schema(data, faults);
        }
        "router" => routes(data, faults),
        "iterator" => {
            data.rename("input_list_variable", "source");
            data.rename("output_item_variable", "item");
        }
        "subgraph" => data.text("flow_id"),
        "smart_node" | "smart" => {
            data.rename("llm_profile", "profile");
            profile(data, faults);
        }
        _ => {}
    }
}

impl NodeSettings {
    /// Gives a setting our name, unless the file has that, too.
    fn rename(&mut self, from: &str, to: &str) {
        if !self.values.contains_key(to)
            && let Some(value) = self.values.remove(from)
        {
            self.values.insert(to.to_owned(), value);
            self.origin
                .insert(format!("/{to}"), format!("{}/{from}", self.at()));
        }
    }

    /// Ids may be numbers there.
    fn text(&mut self, name: &str) {
        if let Some(value @ Value::Number(_)) = self.values.get_mut(name) {
            *value = Value::String(value.to_string());
        }
    }
}

/// Forms keep numbers as texts.
fn digits(values: &mut Map<String, Value>, name: &str) {
    if let Some(value) = values.get_mut(name)
        && let Some(number) = value
            .as_str()
            .and_then(|text| text.trim().parse::<u64>().ok())
    {
        *value = number.into();
    }
}

/// `{source, context_key, target_handle}` of a route becomes `{source, handle}`. Without a source, it is the message.
fn routes(data: &mut NodeSettings, faults: &mut Faults) {
    let at = data.at();
    let Some(Value::Array(routes)) = data.values.get_mut("routes") else {
        return;
    };
    for (index, route) in routes.iter_mut().enumerate() {
        let Value::Object(route) = route else {
            continue;
        };
        route.retain(|_, value| !value.is_null());
        let ours = format!("/routes/{index}");
        let theirs = format!("{at}/routes/{index}");
        if let Some(handle) = route.remove("target_handle") {
            route.insert("handle".to_owned(), handle);
            data.origin
                .insert(format!("{ours}/handle"), format!("{theirs}/target_handle"));
        }
        // The front end's name for the route.
        route.remove("id");
        let key = route.remove("context_key");
        match route
            .remove("source")
            .as_ref()
            .map(|source| source.as_str().ok_or(source))
        {
            None | Some(Ok("message")) => {}
            Some(Ok("context")) => match key {
                Some(Value::String(key)) if !key.is_empty() => {
                    route.insert("source".to_owned(), Value::String(key));
                    data.origin
                        .insert(format!("{ours}/source"), format!("{theirs}/context_key"));
                }
                Some(Value::String(_)) | None => {
                    let message = "\"context_key\" is missing: name the value that the route reads";
                    faults.fault(theirs, FaultKind::Missing, message);
                }
                Some(other) => {
                    let message = format!("is {}, but must be a text", describe(&other));
                    faults.fault(
                        format!("{theirs}/context_key"),
                        FaultKind::WrongKind,
                        message,
                    );
                }
            },
            Some(Ok(other)) => {
                let at = format!("{theirs}/source");
                let message = format!("no source {:?}", shown(other));
                let sources = ["message", "context"];
                faults.unknown(true, at, FaultKind::UnknownName, message, other, sources);
            }
            Some(Err(other)) => {
                let message = format!(
                    "is {}, but must be \"message\" or \"context\"",
                    describe(other)
                );
                faults.fault(format!("{theirs}/source"), FaultKind::WrongKind, message);
            }
        }
    }
}

/// `[{name, type, description}]` becomes a JSON schema. An empty list means none.
fn output_schema(data: &mut NodeSettings, faults: &mut Faults) {
    let Some(Value::Array(fields)) = data.values.get("output_schema") else {
        return;
    };
    let at = data.at();
    let mut members = Map::new();
    let mut origin = BTreeMap::new();
    for (index, field) in fields.iter().enumerate() {
        let theirs = format!("{at}/output_schema/{index}");
        let Some(name) = field
            .get("name")
            .and_then(Value::as_str)
            .filter(|name| !name.is_empty())
        else {
            faults.fault(
                theirs,
                FaultKind::Missing,
                "\"name\" is missing or not a text: name the member",
            );
            continue;
        };
        let Some(member) = schema_of_member(field, &theirs, faults) else {
            continue;
        };
        origin.insert(
            format!("/output_schema/properties/{}", escaped(name)),
            theirs.clone(),
        );
        if members.insert(name.to_owned(), member).is_some() {
            let message = format!(
                "{:?} is already the name of another member: choose another name",
                shown(name)
            );
            faults.fault(format!("{theirs}/name"), FaultKind::Duplicate, message);
        }
    }
    if members.is_empty() {
        data.values.remove("output_schema");
        return;
    }
    let required: Vec<&String> = members.keys().collect();
    let schema = json!({"type": "object", "required": required, "properties": members});
    data.values.insert("output_schema".to_owned(), schema);
    data.origin.extend(origin);
}

/// `None`: its type is none that there is, which a fault says.
fn schema_of_member(field: &Value, at: &str, faults: &mut Faults) -> Option<Value> {
    let word = field
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or("string");
    let Some(kind) = type_of(word) else {
        let type_names = ["string", "number", "integer", "boolean", "array", "object"];
        faults.unknown(
            true,
            format!("{at}/type"),
            FaultKind::UnknownName,
            format!("no type {:?}", shown(word)),
            word,
            type_names,
        );
        return None;
    };
    let mut member = json!({"type": kind});
    let description = field.get("description");
    if let Some(description) = description.filter(|text| text.as_str() != Some("")) {
        member["description"] = description.clone();
    }
    Some(member)
}

/// The types of front ends, in words of several languages.
fn type_of(word: &str) -> Option<&'static str> {
    Some(match word.to_lowercase().as_str() {
        "" | "string" | "str" | "text" => "string",
        "number" | "float" => "number",
        "integer" | "int" => "integer",
        "boolean" | "bool" => "boolean",
        "array" | "list" => "array",
        "object" | "dict" => "object",
        _ => return None,
    })
}

/// An embedded profile counts by its name or number. Anything else in it that could redirect a request is refused.
fn profile(data: &mut NodeSettings, faults: &mut Faults) {
    data.text("profile");
    let Some(Value::Object(profile)) = data.values.get("profile") else {
        return;
    };
    let place = data.pointer("/profile");
    for (name, value) in profile {
        let words = ["key", "url", "host", "secret", "token", "password"];
        let lower = name.to_lowercase();
        let is_private =
            words.iter().any(|word| lower.contains(word)) && !lower.contains("max_tokens");
        if is_private && !value.is_null() && value.as_str() != Some("") {
            let message = "a graph must not contain a key or a URL: register the profile in the program, and write its name here";
            faults.fault(
                format!("{place}/{}", escaped(name)),
                FaultKind::Setting,
                message,
            );
        }
    }
    let chosen = ["name", "id"]
        .iter()
        .find_map(|member| match profile.get(*member) {
            Some(Value::String(name)) if !name.is_empty() => Some((member, name.clone())),
            Some(Value::Number(number)) => Some((member, number.to_string())),
            _ => None,
        });
    match chosen {
        Some((member, name)) => {
            data.origin
                .insert("/profile".to_owned(), format!("{place}/{member}"));
            data.values
                .insert("profile".to_owned(), Value::String(name));
        }
        None => {
            let message = "\"name\" is missing: write the name of a registered profile";
            faults.fault(place, FaultKind::Missing, message);
            data.values.remove("profile");
        }
    }
}
