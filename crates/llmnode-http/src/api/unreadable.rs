//! What all wires do with a body or a stream without an answer.

use llmnode_model::{Category, ModelError, Retry, TokenUsage};
use serde_json::{Value, json};

use super::read_answer::Unreadable;

pub(crate) fn json_of(body: &[u8]) -> Result<&[u8], Unreadable> {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body).trim_ascii_start();
    match body.first() {
        None => Err(no_answer("the response is empty")),
        Some(b'<') => Err(Unreadable::WebPage),
        Some(_) => Ok(body),
    }
}

pub(crate) fn no_json(error: &serde_json::Error) -> Unreadable {
    no_answer(format!("the response cannot be read as JSON: {error}"))
}

pub(crate) fn no_answer(message: impl Into<String>) -> Unreadable {
    let failure = ModelError::new(Category::BadResponse, message).retry(Retry::Transport);
    Unreadable::Failure(Box::new(failure))
}

pub(crate) fn broken_off(usage: Option<TokenUsage>) -> ModelError {
    let mut failure = ModelError::new(Category::Network, "the stream ended before the answer did");
    failure.usage = usage.map(Box::new);
    failure
}

pub(crate) fn malformed(error: &serde_json::Error, usage: Option<TokenUsage>) -> ModelError {
    let message = format!("an event of the stream cannot be read as JSON: {error}");
    let mut failure = ModelError::new(Category::BadResponse, message).retry(Retry::Transport);
    failure.usage = usage.map(Box::new);
    failure
}

pub(crate) fn as_error_body(data: &[u8]) -> Vec<u8> {
    let value: Value = serde_json::from_slice(data)
        .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(data).into_owned()));
    if value.get("error").is_some() {
        data.to_vec()
    } else {
        json!({"error": value}).to_string().into_bytes()
    }
}
