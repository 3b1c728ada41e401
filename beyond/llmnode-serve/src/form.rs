//! The form of a graph's inputs, and of what a tool asks.
//!
//! Fields are texts, and are read here by the schema of their input: a script would turn long integers into others.

use llmnode_graph::Graph;
use llmnode_graph::ext::typed_input;
use llmnode_page::ext::Html;
use llmnode_runtime::Question;
use serde_json::{Map, Value};

use crate::file::GraphFile;
use crate::options::Options;

/// The message's name among the inputs, which a graph may not declare.
pub(crate) const MESSAGE: &str = "messages";

/// Reads what was typed: texts by the schemas of the graph's inputs. Other values
/// are those of a program.
pub(crate) fn read(graph: &Graph, inputs: Value) -> Result<Value, String> {
    let Value::Object(typed) = inputs else {
        return Ok(inputs);
    };
    let schemas = graph.inputs();
    let mut read = Map::new();
    for (name, value) in typed {
        let value = match value {
            Value::String(text) if name != MESSAGE => {
                let schema = schemas.get(&*name).copied().flatten();
                typed_input(schema, &text).map_err(|why| format!("{name}: {why}"))?
            }
            value => Some(value),
        };
        read.extend(value.map(|value| (name, value)));
    }
    Ok(Value::Object(read))
}

/// Reads what was typed as the answer to a tool's question. An empty text is none
/// where none is required.
pub(crate) fn answer(question: &Question, typed: Map<String, Value>) -> Result<Value, String> {
    let schema = &question.schema;
    let required: &[Value] = schema["required"].as_array().map_or(&[], Vec::as_slice);
    let mut answer = Map::new();
    for (name, value) in typed {
        let value = match value {
            Value::String(text) if text.is_empty() && !required.iter().any(|one| *one == name) => {
                None
            }
            Value::String(text) => typed_input(schema["properties"].get(&name), &text)
                .map_err(|why| format!("{name}: {why}"))?,
            value => Some(value),
        };
        answer.extend(value.map(|value| (name, value)));
    }
    Ok(Value::Object(answer))
}

pub(crate) fn panel(index: usize, file: &GraphFile, options: &Options) -> Html {
    let mut html = Html::default();
    let Some((graph, _)) = file.loaded.as_ref().filter(|_| options.can_run) else {
        return html;
    };
    html.section("Inputs", |html| {
        html.element("form", &[("data-run", &index.to_string())], |html| {
            for (name, schema) in graph.inputs() {
                let place = format!("input-{index}");
                input(html, &place, name, schema.unwrap_or(&Value::Null));
            }
            let id = format!("message-{index}");
            label(html, &id, "User message, for agents without a prompt");
            text(html, &id, MESSAGE, "");
            let id = format!("requests-{index}");
            let most = options.requests.to_string();
            label(html, &id, "Requests at most");
            let attributes = [
                ("id", &*id),
                ("type", "number"),
                ("min", "1"),
                ("max", &*most),
                ("value", &*most),
                ("data-requests", ""),
            ];
            html.void("input", &attributes);
            html.element("button", &[("type", "submit")], |html| html.text("Run"));
        });
    });
    html
}

/// `place`: what the field's id begins with.
pub(crate) fn input(html: &mut Html, place: &str, name: &str, schema: &Value) {
    let id = format!("{place}-{name}");
    let about = schema.get("description").and_then(Value::as_str);
    label(html, &id, name);
    about
        .into_iter()
        .for_each(|about| html.leaf("p", "more", about));
    let default = schema.get("default");
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        let attributes = [("id", &*id), ("data-name", name)];
        html.element("select", &attributes, |html| {
            for choice in choices {
                let value = choice.to_string();
                let is_default = [("value", &*value), ("selected", "")];
                let attributes = if default == Some(choice) {
                    &is_default[..]
                } else {
                    &is_default[..1]
                };
                html.element("option", attributes, |html| html.text(shown(choice)));
            }
        });
        return;
    }
    let default_text = default.map(shown).unwrap_or_default();
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => {
            let attributes = [
                ("id", &*id),
                ("data-name", name),
                ("type", "checkbox"),
                ("checked", ""),
            ];
            let is_on = default == Some(&Value::Bool(true));
            html.void("input", if is_on { &attributes } else { &attributes[..3] });
        }
        Some("number" | "integer") => html.void(
            "input",
            &[
                ("id", &id),
                ("data-name", name),
                ("type", "text"),
                // A field for numbers gives a script what a number of 64 bits makes of it.
                ("inputmode", "decimal"),
                ("value", &default_text),
            ],
        ),
        _ => text(html, &id, name, &default_text),
    }
}

fn text(html: &mut Html, id: &str, name: &str, value: &str) {
    let attributes = [("id", id), ("data-name", name), ("rows", "3")];
    html.element("textarea", &attributes, |html| {
        // A parser drops the first line break.
        html.markup("\n");
        html.text(value);
    });
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

pub(crate) fn label(html: &mut Html, id: &str, text: &str) {
    html.element("label", &[("for", id)], |html| html.text(text));
}
