//! The form of a graph's inputs.

use llmnode_page::internal::Html;
use serde_json::Value;

use crate::file::GraphFile;
use crate::options::Options;

/// The message's name among the inputs, which a graph may not declare.
pub(crate) const MESSAGE: &str = "messages";

pub(crate) fn panel(index: usize, file: &GraphFile, is_busy: bool, options: &Options) -> Html {
    let mut html = Html::default();
    let Some((graph, _)) = file.loaded.as_ref().filter(|_| options.can_run) else { return html };
    html.section("Inputs", |html| {
        if is_busy {
            html.leaf("p", "more", "A run is under way.");
        }
        html.element("form", &[("data-run", &index.to_string())], |html| {
            for (name, schema) in graph.inputs() {
                input(html, index, name, schema.unwrap_or(&Value::Null));
            }
            let id = format!("message-{index}");
            label(html, &id, "User message, for agents without a prompt");
            text(html, &id, MESSAGE, "text", "");
            let (id, most) = (format!("requests-{index}"), options.requests.to_string());
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
            let attributes = [("type", "submit"), ("disabled", "")];
            html.element("button", if is_busy { &attributes } else { &attributes[..1] }, |html| {
                html.text("Run");
            });
        });
    });
    html
}

fn input(html: &mut Html, index: usize, name: &str, schema: &Value) {
    let id = format!("input-{index}-{name}");
    let about = schema.get("description").and_then(Value::as_str);
    label(html, &id, name);
    about.into_iter().for_each(|about| html.leaf("p", "more", about));
    let default = schema.get("default");
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        let attributes = [("id", &*id), ("data-name", name), ("data-kind", "json")];
        html.element("select", &attributes, |html| {
            for choice in choices {
                let value = choice.to_string();
                let is_default = [("value", &*value), ("selected", "")];
                let attributes = if default == Some(choice) { &is_default[..] } else { &is_default[..1] };
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
                ("data-kind", "flag"),
                ("checked", ""),
            ];
            let is_on = default == Some(&Value::Bool(true));
            html.void("input", if is_on { &attributes } else { &attributes[..4] });
        }
        Some("number" | "integer") => html.void(
            "input",
            &[
                ("id", &id),
                ("data-name", name),
                ("data-kind", "json"),
                ("type", "number"),
                ("step", "any"),
                ("value", &default_text),
            ],
        ),
        Some("string") => text(html, &id, name, "text", &default_text),
        // Without a schema: JSON if it can be read as such, else a text.
        None => text(html, &id, name, "any", &default_text),
        Some(_) => text(html, &id, name, "json", &default_text),
    }
}

fn text(html: &mut Html, id: &str, name: &str, kind: &str, value: &str) {
    let attributes = [("id", id), ("data-name", name), ("data-kind", kind), ("rows", "3")];
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

pub(crate) fn area(html: &mut Html, id: &str, name: &str, field: &'static str, value: &str) {
    label(html, id, name);
    html.element("textarea", &[("id", id), ("name", field), ("rows", "4")], |html| {
        html.markup("\n");
        html.text(value);
    });
}

pub(crate) fn line(html: &mut Html, id: &str, name: &str, field: &'static str) {
    label(html, id, name);
    html.void("input", &[("id", id), ("name", field), ("type", "text")]);
}

/// By the answers that they send.
pub(crate) fn buttons(html: &mut Html, all: &[(&'static str, &'static str)]) {
    html.element("div", &[("class", "buttons")], |html| {
        for (answer, text) in all {
            html.element("button", &[("type", "submit"), ("value", answer)], |html| html.text(text));
        }
    });
}
