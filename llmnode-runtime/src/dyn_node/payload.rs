//! The input of a node.

use std::fmt;

use serde_json::Value;

#[derive(Clone)]
pub(super) struct Payload(Result<String, InvalidPayload>);

impl Payload {
    pub(super) fn new(value: Value) -> Self {
        let found = match value {
            Value::Object(mut members) => ["prompt", "content", "input"]
                .into_iter()
                .find_map(|name| members.remove(name)),
            other => Some(other),
        };
        Payload(match found {
            Some(Value::String(text)) => Ok(text),
            _ => Err(InvalidPayload),
        })
    }

    pub(super) fn text(&self) -> Result<&String, InvalidPayload> {
        self.0.as_ref().map_err(|fault| *fault)
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok(text) => write!(f, "Payload({} bytes)", text.len()),
            Err(_) => f.write_str("Payload(invalid)"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct InvalidPayload;

impl fmt::Display for InvalidPayload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the payload is neither text nor an object with text in `prompt`, `content` or `input`",
        )
    }
}

impl std::error::Error for InvalidPayload {}
