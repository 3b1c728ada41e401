//! The messages of DSPy's adapters, byte for byte. The adapters differ only in the outputs.

use llmnode_runtime::{Message, Role};
use serde_json::{Map, Value};

use super::parts::{INCOMPLETE, PromptParts};
use super::python::{annotation, choices, constraints, indented, json, sorted, text, to_pydantic};
use super::text::{dedent, lines, strip};
use crate::signature::{Field, Signature};

const MISSING: &str = "Not supplied for this particular example. ";
const COMPLETED: &str = "[[ ## completed ## ]]\n";
const HEAD: &str = "All interactions will be structured in the following way, with the appropriate values filled in.";

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Adapter {
    Chat,
    Json,
}

pub(super) fn messages(prompt: &PromptParts<'_>, adapter: Adapter) -> Vec<Message> {
    let PromptParts {
        signature, inputs, ..
    } = prompt;
    let signature = &with_pydantic_schemas(signature);
    let (incomplete, complete) = prompt.sorted_demos();
    let mut messages = vec![Message::system(system(signature, adapter))];
    for demo in incomplete {
        add(
            &mut messages,
            Role::User,
            user(signature, demo, INCOMPLETE, None),
        );
        add(
            &mut messages,
            Role::Assistant,
            assistant(signature, demo, adapter),
        );
    }
    for demo in complete {
        add(&mut messages, Role::User, user(signature, demo, "", None));
        add(
            &mut messages,
            Role::Assistant,
            assistant(signature, demo, adapter),
        );
    }
    add(
        &mut messages,
        Role::User,
        user(signature, inputs, "", Some(adapter)),
    );
    messages
}

/// DSPy leaves out messages without text.
fn add(messages: &mut Vec<Message>, role: Role, text: String) {
    if !text.is_empty() {
        messages.push(Message::new(role, text));
    }
}

/// The schemas that pydantic, and so DSPy, has for the same types.
fn with_pydantic_schemas(signature: &Signature) -> Signature {
    let mut signature = signature.clone();
    for field in signature.inputs.iter_mut().chain(&mut signature.outputs) {
        field.schema = to_pydantic(&field.schema);
    }
    signature
}

fn system(signature: &Signature, adapter: Adapter) -> String {
    let Signature {
        inputs,
        outputs,
        goal,
        ..
    } = signature;
    let mut system = format!(
        "Your input fields are:\n{}\nYour output fields are:\n{}\n",
        described(inputs),
        described(outputs)
    );
    let ins = sections(inputs.iter().map(|field| (field, placeholder(field, ""))));
    let structure = match adapter {
        Adapter::Chat => [
            HEAD,
            &ins,
            &sections(
                outputs
                    .iter()
                    .map(|field| (field, placeholder(field, &note(field)))),
            ),
            COMPLETED,
        ]
        .join("\n\n"),
        Adapter::Json => {
            let outs = outputs
                .iter()
                .map(|field| (field.name.clone(), placeholder(field, &note(field)).into()));
            let outs = indented(&Value::Object(outs.collect()));
            let inputs = "Inputs will have the following structure:";
            let outputs = "Outputs will be a JSON object with the following fields.";
            [HEAD, inputs, &ins, outputs, &outs].join("\n\n")
        }
    };
    system.push_str(strip(&structure));
    system.push_str("\nIn adhering to this structure, your objective is: ");
    for line in lines(&dedent(goal)) {
        system.push_str("\n        ");
        system.push_str(line);
    }
    system
}

fn described(fields: &[Field]) -> String {
    let lines: Vec<_> = fields
        .iter()
        .enumerate()
        .map(|(at, field): (usize, &Field)| {
            let bounds = constraints(&field.schema)
                .map(|bounds| format!("\nConstraints: {bounds}"))
                .unwrap_or_default();
            format!(
                "{}. `{}` ({}): {}{bounds}",
                at + 1,
                field.name,
                annotation(&field.schema),
                field.description
            )
        })
        .collect();
    strip(&lines.join("\n")).to_owned()
}

fn placeholder(field: &Field, note: &str) -> String {
    let note = if note.is_empty() {
        String::new()
    } else {
        format!("        # note: the value you produce {note}")
    };
    format!("{{{}}}{note}", field.name)
}

fn note(field: &Field) -> String {
    if field.is_text() {
        return String::new();
    }
    if let Some(choices) = choices(&field.schema) {
        let choices: Vec<_> = choices.iter().map(text).collect();
        return format!(
            "must exactly match (no extra characters) one of: {}",
            choices.join("; ")
        );
    }
    match field.schema.get("type").and_then(Value::as_str) {
        Some("boolean") => "must be True or False".to_owned(),
        Some("integer") => "must be a single int value".to_owned(),
        Some("number") => "must be a single float value".to_owned(),
        _ => format!(
            "must adhere to the JSON schema: {}",
            json(&sorted(&field.schema))
        ),
    }
}

fn sections<'f>(fields: impl Iterator<Item = (&'f Field, String)>) -> String {
    let sections: Vec<_> = fields
        .map(|(field, value)| section(field, &value))
        .collect();
    strip(&sections.join("\n\n")).to_owned()
}

fn section(field: &Field, value: &str) -> String {
    format!("[[ ## {} ## ]]\n{value}", field.name)
}

fn user(
    signature: &Signature,
    values: &Map<String, Value>,
    head: &str,
    main: Option<Adapter>,
) -> String {
    let Signature {
        inputs, outputs, ..
    } = signature;
    let mut parts = vec![head.to_owned()];
    parts.extend(inputs.iter().filter_map(|field| {
        Some(section(
            field,
            &section_value(field, values.get(&field.name)?),
        ))
    }));
    parts.extend(main.map(|adapter| response_instruction(outputs, adapter)));
    parts.push(String::new());
    strip(&parts.join("\n\n")).to_owned()
}

/// `mark`: how a field's name is written.
fn listed_fields(fields: &[Field], mark: fn(&str) -> String) -> String {
    let fields: Vec<_> = fields
        .iter()
        .map(|field| {
            let kind = annotation(&field.schema);
            let form = if kind == "str" {
                String::new()
            } else {
                format!(" (must be formatted as a valid Python {kind})")
            };
            format!("`{}`{form}", mark(&field.name))
        })
        .collect();
    fields.join(", then ")
}

fn response_instruction(outputs: &[Field], adapter: Adapter) -> String {
    match adapter {
        Adapter::Chat => format!(
            "Respond with the corresponding output fields, starting with the field {}, and then ending with the marker for `[[ ## completed ## ]]`.",
            listed_fields(outputs, |name| format!("[[ ## {name} ## ]]"))
        ),
        Adapter::Json => {
            format!(
                "Respond with a JSON object in the following order of fields: {}.",
                listed_fields(outputs, str::to_owned)
            )
        }
    }
}

fn value_of(field: &Field, values: &Map<String, Value>) -> Value {
    values
        .get(&field.name)
        .cloned()
        .unwrap_or_else(|| MISSING.into())
}

fn assistant(signature: &Signature, values: &Map<String, Value>, adapter: Adapter) -> String {
    match adapter {
        Adapter::Chat => {
            sections(
                signature
                    .outputs
                    .iter()
                    .map(|field| (field, section_value(field, &value_of(field, values)))),
            ) + "\n\n"
                + COMPLETED
        }
        Adapter::Json => indented(&Value::Object(
            signature
                .outputs
                .iter()
                .map(|field| (field.name.clone(), value_of(field, values)))
                .collect(),
        )),
    }
}

fn section_value(field: &Field, value: &Value) -> String {
    match value {
        Value::Array(items) if field.is_text() => match &items[..] {
            [] => "N/A".to_owned(),
            [one] => quoted(one),
            many => {
                let lines: Vec<_> = many
                    .iter()
                    .enumerate()
                    .map(|(at, one)| format!("[{}] {}", at + 1, quoted(one)))
                    .collect();
                lines.join("\n")
            }
        },
        Value::Array(_) | Value::Object(_) => json(value),
        other => text(other),
    }
}

/// DSPy marks one of several texts so.
fn quoted(value: &Value) -> String {
    let text = text(value);
    if text.contains(['\n', '«', '»']) {
        format!("«««\n    {}\n»»»", text.replace('\n', "\n    "))
    } else {
        format!("«{text}»")
    }
}
