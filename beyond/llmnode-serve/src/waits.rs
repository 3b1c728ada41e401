//! What waits for a person: a form for each call, which the page keeps as it is
//! until it is decided.

use std::collections::BTreeMap;

use llmnode_model::Message;
use llmnode_model::ext::Redactor;
use llmnode_page::ext::{Html, role};
use llmnode_reader::text::visible;
use llmnode_runtime::WaitingCall;
use serde_json::{Value, json};

use crate::decision::{Waiting, shown};
use crate::form::{input, label};
use crate::running::Running;

/// Messages of the conversation beside what waits, from its end.
const MESSAGES: usize = 8;
/// Bytes of one of them.
const MESSAGE: usize = 16 * 1024;

/// With ids of their own: the page adds new ones, and drops those that are gone.
pub(crate) fn entries(run: Option<&Running>, notes: &BTreeMap<String, String>) -> Vec<Value> {
    let Some(waiting) = run.and_then(|run| run.waiting.as_ref()) else {
        return Vec::new();
    };
    let calls = waiting.paused.waiting();
    calls
        .iter()
        .map(|call: &WaitingCall| {
            let id = format!("{} {}", waiting.number, call.id);
            json!({"id": id, "html": html_of(waiting, call, notes.get(&call.name)).into_string()})
        })
        .collect()
}

fn html_of(waiting: &Waiting, call: &WaitingCall, note: Option<&String>) -> Html {
    let mut html = Html::default();
    html.element("h2", &[("tabindex", "-1")], |html| {
        html.text(match &call.question {
            Some(_) => "Asks you: ",
            None => "Waits for you: ",
        });
        html.leaf("code", "", visible(&call.name));
        if call.name != call.node {
            html.text(format!(" of {}", visible(&call.node)));
        }
    });
    if let Some(note) = note {
        let sentence = format!(
            "Its server says that it {}. Nobody has checked that.",
            visible(note)
        );
        html.leaf("p", "more", sentence);
    }
    waiting
        .problem
        .iter()
        .for_each(|problem| html.leaf("p", "banner", visible(problem)));
    html.element("div", &[("class", "beside")], |html| {
        form(html, waiting, call);
        conversation(html, waiting.messages(call));
    });
    html
}

fn form(html: &mut Html, waiting: &Waiting, call: &WaitingCall) {
    let id = |field: &str| format!("{field}-{}-{}", waiting.number, call.id);
    let attributes = [("data-decide", &*call.id), ("data-pause", &waiting.number)];
    html.element("form", &attributes, |html| {
        if let Some(question) = &call.question {
            html.leaf("p", "field", "Arguments");
            html.verbatim(&shown(&call.arguments));
            html.leaf("p", "question", visible(&question.message));
            let members = question.schema.get("properties").and_then(Value::as_object);
            for (name, schema) in members.into_iter().flatten() {
                input(html, &id("asked"), name, schema);
            }
            buttons(html, "button", "result", "Answer");
        } else if call.wants_result {
            html.leaf("p", "field", "Arguments");
            html.verbatim(&shown(&call.arguments));
            label(html, &id("result"), "Result, as JSON or text");
            area(html, &id("result"), "result", "");
            buttons(html, "button", "result", "Give the result");
        } else {
            label(html, &id("arguments"), "Arguments, which you may change");
            area(html, &id("arguments"), "arguments", &waiting.field(call));
            buttons(html, "button", "yes", "Yes");
        }
        label(html, &id("why"), "Why not");
        html.void(
            "input",
            &[
                ("id", &id("why")),
                ("name", "why"),
                ("type", "text"),
                ("autocomplete", "off"),
            ],
        );
        buttons(html, "submit", "no", "No");
    });
}

fn area(html: &mut Html, id: &str, name: &'static str, value: &str) {
    let rows = value.lines().count().max(2).to_string();
    let attributes = [
        ("id", id),
        ("name", name),
        ("rows", &rows),
        ("spellcheck", "false"),
        ("class", "whole"),
    ];
    html.element("textarea", &attributes, |html| {
        // A parser drops the first line break.
        html.markup("\n");
        html.text(value);
    });
}

/// The script makes it alive: a click that was meant for an earlier pause decides
/// nothing. What is not of the kind `submit` does not answer to Enter in a field.
fn buttons(html: &mut Html, kind: &'static str, answer: &'static str, text: &'static str) {
    html.element("div", &[("class", "buttons")], |html| {
        let attributes = [("type", kind), ("value", answer), ("disabled", "")];
        html.element("button", &attributes, |html| html.text(text));
    });
}

fn conversation(html: &mut Html, messages: &[Message]) {
    let from = messages.len().saturating_sub(MESSAGES);
    let last = &messages[from..];
    if last.is_empty() {
        return;
    }
    let redactor = Redactor::from_env();
    html.element(
        "div",
        &[
            ("class", "conversation"),
            ("role", "group"),
            ("aria-label", "Conversation"),
        ],
        |html| {
            html.leaf(
                "p",
                "field",
                if from > 0 {
                    "The last messages before"
                } else {
                    "The messages before"
                },
            );
            for message in last {
                html.element("div", &[("class", "said")], |html| {
                    html.leaf("span", "who", role(message));
                    html.verbatim(&visible(&cut(&redactor.text(&message_text(message)))));
                });
            }
        },
    );
}

fn message_text(message: &Message) -> String {
    let calls = message
        .calls()
        .iter()
        .map(|call| format!("calls {} {}", call.name, call.arguments));
    let parts = Some(message.shown())
        .filter(|text| !text.is_empty())
        .into_iter()
        .chain(calls);
    parts.collect::<Vec<_>>().join("\n")
}

fn cut(text: &str) -> String {
    if text.len() <= MESSAGE {
        return text.to_owned();
    }
    let end = (0..=MESSAGE)
        .rev()
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or(0);
    format!("{}\n[{} more bytes]", &text[..end], text.len() - end)
}
