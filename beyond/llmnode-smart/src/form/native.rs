//! llmnode's own form: the goal as system message, a section for each input, the answer as JSON.

use std::fmt::Write;

use llmnode_runtime::Message;
use serde_json::{Map, Value};

use super::parts::{INCOMPLETE, PromptParts};
use crate::signature::{Field, Signature};

pub(super) fn messages(parts: &PromptParts<'_>) -> Vec<Message> {
    let PromptParts {
        signature, inputs, ..
    } = parts;
    let (incomplete, complete) = parts.sorted_demos();
    let mut messages = vec![Message::system(system(signature))];
    for demo in incomplete {
        messages.push(Message::user(format!(
            "{INCOMPLETE}\n\n{}",
            user(signature, demo)
        )));
        messages.push(Message::assistant(answer(signature, demo)));
    }
    for demo in complete {
        messages.push(Message::user(user(signature, demo)));
        messages.push(Message::assistant(answer(signature, demo)));
    }
    messages.push(Message::user(user(signature, inputs)));
    messages
}

/// Without descriptions of outputs, which the schema has.
fn system(signature: &Signature) -> String {
    let mut text = signature.goal.clone();
    let described: Vec<_> = signature
        .inputs
        .iter()
        .filter(|field| !field.description.is_empty())
        .collect();
    if !described.is_empty() {
        text.push_str("\n\nThe input has these fields:");
        for field in described {
            let _ = write!(
                text,
                "\n- {}: {}",
                field.name,
                field.description.replace('\n', "\n  ")
            );
        }
    }
    text
}

fn user(signature: &Signature, values: &Map<String, Value>) -> String {
    signature
        .inputs
        .iter()
        .filter_map(|field: &Field| {
            Some(format!(
                "# {}\n{}",
                field.name,
                section_value(values.get(&field.name)?)
            ))
        })
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// Several lines are fenced, so that none of them passes for a section.
fn section_value(value: &Value) -> String {
    match value {
        Value::String(text) if !text.contains(['\n', '\r']) && !text.starts_with('#') => {
            text.clone()
        }
        Value::String(text) => {
            let fence = "`".repeat(longest_run(text).max(2) + 1);
            format!("{fence}\n{text}\n{fence}")
        }
        other => other.to_string(),
    }
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default()
}

fn answer(signature: &Signature, values: &Map<String, Value>) -> String {
    let all: Map<String, Value> = signature
        .outputs
        .iter()
        .filter_map(|field: &Field| Some((field.name.clone(), values.get(&field.name)?.clone())))
        .collect();
    match all.get(crate::signature::VALUE) {
        Some(Value::String(text)) if signature.text => text.clone(),
        _ => Value::Object(all).to_string(),
    }
}
