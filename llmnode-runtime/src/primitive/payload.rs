//! What a primitive is asked with.

use std::fmt;

use serde_json::Value;

/// What a primitive is asked with: text, or JSON that holds one.
///
/// JSON is a string, or an object whose first member of `prompt`, `content` and `input` is one. Anything else is a
/// `schema_error` of the call, with the reason `invalid_payload`. The text is the user message, byte for byte.
#[derive(Clone)]
pub struct Payload(Result<String, InvalidPayload>);

impl Payload {
    pub(super) fn text(&self) -> Result<&String, InvalidPayload> {
        self.0.as_ref().map_err(|fault| *fault)
    }
}

impl From<&str> for Payload {
    fn from(text: &str) -> Self {
        Payload(Ok(text.to_owned()))
    }
}

impl From<String> for Payload {
    fn from(text: String) -> Self {
        Payload(Ok(text))
    }
}

impl From<Value> for Payload {
    fn from(value: Value) -> Self {
        let found = match value {
            Value::Object(mut members) => {
                ["prompt", "content", "input"].into_iter().find_map(|name| members.remove(name))
            }
            other => Some(other),
        };
        Payload(match found {
            Some(Value::String(text)) => Ok(text),
            _ => Err(InvalidPayload),
        })
    }
}

/// Shows no content.
impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok(text) => write!(f, "Payload({} bytes)", text.len()),
            Err(_) => f.write_str("Payload(invalid)"),
        }
    }
}

/// The payload holds no text.
#[derive(Clone, Copy, Debug)]
pub(super) struct InvalidPayload;

impl fmt::Display for InvalidPayload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the payload is neither text nor an object with text in `prompt`, `content` or `input`")
    }
}

impl std::error::Error for InvalidPayload {}
