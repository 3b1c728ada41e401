//! The body of a request, written out of borrowed parts.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::learned::{Format, Habits};
use crate::model::{Message, Request, Role};
use crate::output::OutputSchema;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
    /// Last, so that what a node's requests have in common is the beginning of the body.
    messages: Messages<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Messages<'a> {
    AsTheyAre(&'a [Message]),
    WithInstruction(Vec<Cow<'a, Message>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'a> {
    JsonSchema { json_schema: JsonSchema<'a> },
    JsonObject,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    schema: &'a RawValue,
    strict: bool,
}

/// Writes the request for a model that wants to be asked by these habits.
pub(super) fn encode(request: &Request, model: &str, habits: Habits) -> Result<Vec<u8>, serde_json::Error> {
    let schema = request.output.as_deref();
    let given = |field: &str| request.extra.contains_key(field);
    let limit = request.max_tokens.filter(|_| !given("max_tokens") && !given("max_completion_tokens"));
    let body = Body {
        model,
        messages: match schema {
            Some(schema) if matches!(habits.format, Format::JsonObject | Format::Prompted) => {
                Messages::WithInstruction(with_instruction(&request.messages, schema))
            }
            _ => Messages::AsTheyAre(&request.messages),
        },
        temperature: request.temperature.filter(|_| !habits.no_temperature && !given("temperature")),
        max_tokens: limit.filter(|_| !habits.max_completion_tokens),
        max_completion_tokens: limit.filter(|_| habits.max_completion_tokens),
        response_format: schema
            .filter(|_| !given("response_format"))
            .and_then(|s| response_format(s, habits.format)),
        extra: &request.extra,
    };
    let text: usize = request.messages.iter().map(size).sum();
    let mut bytes = Vec::with_capacity(text + schema.map_or(0, |schema| schema.plain().get().len()) + 256);
    serde_json::to_writer(&mut bytes, &body)?;
    Ok(bytes)
}

/// About how many bytes a message takes.
fn size(message: &Message) -> usize {
    let attached: usize = message.attachments().map(|one| one.sent_bytes() + 64).sum();
    message.content.len() + attached + 64
}

fn response_format(schema: &OutputSchema, format: Format) -> Option<ResponseFormat<'_>> {
    let json_schema = |raw, strict| {
        Some(ResponseFormat::JsonSchema {
            json_schema: JsonSchema { name: schema.name(), schema: raw, strict },
        })
    };
    match (format, schema.strict()) {
        (Format::Strict, Ok(raw)) => json_schema(raw, true),
        // A type that the strict dialect cannot express still goes as plain JSON Schema.
        (Format::Strict, Err(_)) | (Format::Plain, _) => json_schema(schema.plain(), false),
        (Format::JsonObject, _) => Some(ResponseFormat::JsonObject),
        (Format::Prompted, _) => None,
    }
}

/// The messages, with the schema told in the system message: a model that takes no schema has to be told.
fn with_instruction<'a>(messages: &'a [Message], schema: &OutputSchema) -> Vec<Cow<'a, Message>> {
    let instruction = format!(
        "Answer with one JSON value that conforms to this JSON Schema, and with nothing else:\n{}",
        schema.plain().get()
    );
    let (system, rest) = match messages.split_first() {
        Some((first, rest)) if first.role == Role::System => {
            (first.clone().text("\n\n").text(instruction), rest)
        }
        _ => (Message::system(instruction), messages),
    };
    std::iter::once(Cow::Owned(system)).chain(rest.iter().map(Cow::Borrowed)).collect()
}
