//! Reads answers in sections: they become the members of an object, which is then read like any answer.

use llmnode_runtime::{Reader, Violation};
use serde_json::{Map, Value};

use super::python::choices;
use super::sections::{Section, split};
use crate::signature::{Field, REASONING, Signature, VALUE};

pub(crate) struct SectionReader {
    fields: Vec<Field>,
    thinks: bool,
    object: bool,
}

pub(crate) struct SectionValues {
    pub(crate) reasoning: Option<String>,
    pub(crate) json: Value,
    pub(crate) missing: Vec<Violation>,
}

impl SectionReader {
    pub(crate) fn of(signature: &Signature) -> Self {
        SectionReader {
            fields: signature.outputs.clone(),
            thinks: signature.thinks,
            object: signature.object,
        }
    }

    /// `None`: the answer has none of the sections.
    pub(crate) fn gather(&self, answer: &str, reader: Reader) -> Option<SectionValues> {
        let sections = split(answer);
        if !self
            .fields
            .iter()
            .any(|field| text_of(&sections, &field.name).is_some())
        {
            return None;
        }
        let mut members = Map::new();
        let mut reasoning = None;
        let mut missing = Vec::new();
        for field in &self.fields {
            match text_of(&sections, &field.name) {
                Some(text) if self.thinks && field.name == REASONING => {
                    reasoning = Some(text.to_owned())
                }
                Some(text) => {
                    members.insert(field.name.clone(), parse_value(field, text, reader));
                }
                None if accepts_type(&field.schema, "null") => {}
                None => missing.push(self.lacks(&field.name)),
            }
        }
        let json = if self.object {
            Value::Object(members)
        } else {
            members.remove(VALUE).unwrap_or_default()
        };
        Some(SectionValues {
            reasoning,
            json,
            missing,
        })
    }

    fn lacks(&self, name: &str) -> Violation {
        Violation::new(
            name,
            format!("there is no section of it; write it below a line `[[ ## {name} ## ]]`"),
        )
    }

    pub(crate) fn all_missing(&self) -> Vec<Violation> {
        self.fields
            .iter()
            .map(|field| self.lacks(&field.name))
            .collect()
    }
}

fn text_of<'s>(sections: &'s [Section<'_>], name: &str) -> Option<&'s str> {
    sections
        .iter()
        .find(|(earlier, _)| *earlier == name)
        .map(|(_, text)| text.as_str())
}

/// Text of the wrong type stays text, so that the reader reports it.
fn parse_value(field: &Field, text: &str, reader: Reader) -> Value {
    let schema = &field.schema;
    if let Some(choices) = choices(schema) {
        let name = unquoted(text);
        let found = choices.into_iter().find(|choice| {
            let choice = choice.as_str();
            choice == Some(text) || choice == Some(name)
        });
        return found.unwrap_or_else(|| read_or_text(text, reader));
    }
    if accepts_type(schema, "null") && matches!(text, "None" | "null") {
        return Value::Null;
    }
    if accepts_type(schema, "string") {
        text.into()
    } else {
        read_or_text(text, reader)
    }
}

/// Also removes the type by which the prompt asks for the name: `Literal['a']`.
fn unquoted(text: &str) -> &str {
    let inside = text
        .strip_prefix("Literal[")
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(text);
    within(inside, '\'')
        .or_else(|| within(inside, '"'))
        .unwrap_or(inside)
}

fn within(text: &str, quote: char) -> Option<&str> {
    text.strip_prefix(quote)?.strip_suffix(quote)
}

fn read_or_text(text: &str, reader: Reader) -> Value {
    let word = match text {
        "True" | "true" => Some(Value::Bool(true)),
        "False" | "false" => Some(Value::Bool(false)),
        _ => None,
    };
    word.or_else(|| reader.value(text).ok().map(|reading| reading.value))
        .unwrap_or_else(|| text.into())
}

fn accepts_type(schema: &Value, kind: &str) -> bool {
    let forms = ["anyOf", "oneOf"]
        .iter()
        .find_map(|key| schema.get(*key)?.as_array());
    match (schema.get("type"), forms) {
        (Some(Value::String(type_name)), _) => type_name == kind,
        (Some(Value::Array(type_names)), _) => type_names.iter().any(|type_name| type_name == kind),
        (None, Some(forms)) => forms.iter().any(|form| accepts_type(form, kind)),
        _ => false,
    }
}
