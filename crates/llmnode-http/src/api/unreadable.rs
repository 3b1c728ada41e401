//! What all wires do with a body or a stream without an answer.
//!
//! The same sentence for the same fault on all APIs. Whether a second attempt may
//! help is said here: a body that was cut off may be whole the next time, a web
//! page will not be.

use std::fmt::Display;
use std::ops::ControlFlow;

use llmnode_model::{Category, ModelError, Retry};
use llmnode_reader::ext::small_tree;
use serde_json::{Value, json};

use super::read_answer::Unreadable;
use super::wire::End;
use crate::http::error_body;
use crate::http::sse::Event;

/// Without a byte order mark. A body that begins with `<` is a page.
pub(crate) fn json_of(body: &[u8]) -> Result<&[u8], Unreadable> {
    let body = body
        .strip_prefix(b"\xEF\xBB\xBF")
        .unwrap_or(body)
        .trim_ascii_start();
    match body.first() {
        None => Err(no_answer("the response is empty")),
        Some(b'<') => Err(Unreadable::WebPage),
        Some(_) => Ok(body),
    }
}

/// An error may have any form.
pub(crate) fn no_json(body: &[u8], error: &serde_json::Error) -> Unreadable {
    match error_body::is_error(body) {
        true => Unreadable::ErrorObject,
        false => no_answer(format!("the response cannot be read: {error}")),
    }
}

/// A piece of a known kind that is not as its API writes it. Without it, the answer
/// would say something else.
pub(crate) fn broken_piece(what: impl Display) -> ModelError {
    let message = format!("a piece of the answer cannot be read: {what}");
    ModelError::new(Category::BadResponse, message).retry(Retry::Transport)
}

/// JSON, but no answer.
pub(crate) fn no_answer(message: impl Into<String>) -> Unreadable {
    let failure = ModelError::new(Category::BadResponse, message).retry(Retry::Transport);
    Unreadable::Failure(Box::new(failure))
}

/// The connection ended in good order, and the answer did not.
pub(crate) fn broken_off() -> ModelError {
    ModelError::new(Category::Network, "the stream ended before the answer did")
}

/// An event as a piece of the answer, or why the stream ends with it.
pub(crate) fn piece<'e, T>(
    event: Event<'e>,
    read: fn(&'e [u8]) -> serde_json::Result<T>,
) -> ControlFlow<End, T> {
    if event.data.trim_ascii() == b"[DONE]" {
        return ControlFlow::Break(End::Complete);
    }
    ControlFlow::Break(match read(event.data) {
        Ok(piece) if !event.is_error => return ControlFlow::Continue(piece),
        // The server broke off in the middle of an event.
        Err(_) if !event.is_complete => End::Failure(broken_off()),
        Err(error) if !event.is_error && !error_body::is_error(event.data) => {
            let message = format!("an event of the stream cannot be read: {error}");
            End::Failure(ModelError::new(Category::BadResponse, message).retry(Retry::Transport))
        }
        _ => End::Body(as_error_body(event.data)),
    })
}

/// In an envelope, as an error in one piece would have.
pub(crate) fn as_error_body(data: &[u8]) -> Vec<u8> {
    let value =
        small_tree(data).unwrap_or_else(|| Value::from(String::from_utf8_lossy(data).into_owned()));
    if value.get("error").is_some() {
        data.to_vec()
    } else {
        json!({"error": value}).to_string().into_bytes()
    }
}
