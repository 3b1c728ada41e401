//! The four APIs by one name each: reads what a request asks for, and writes answers, streams and errors in its form.

use serde_json::Value;

use super::api::{Api, GeminiStream, gemini_stream};
use super::model_answer::{Envelope, ModelAnswer, Wanted};
use super::{chat, gemini, messages, responses};

/// Roles and texts, in the order in which the model reads them.
pub(super) fn conversation(api: Api, body: &Value) -> Vec<(String, String)> {
    match api {
        Api::Chat => chat::conversation(body),
        Api::Responses => responses::conversation(body),
        Api::Messages => messages::conversation(body),
        Api::Gemini => gemini::conversation(body),
    }
}

pub(super) fn wanted(api: Api, body: &Value) -> Wanted<'_> {
    match api {
        Api::Chat => chat::wanted(body),
        Api::Responses => responses::wanted(body),
        Api::Messages => messages::wanted(body),
        Api::Gemini => gemini::wanted(body),
    }
}

/// `said`: `None` is an answer without any choice.
pub(super) fn body(api: Api, said: Option<&ModelAnswer>, around: &Envelope<'_>) -> Value {
    match api {
        Api::Chat => chat::body(said, around),
        Api::Responses => responses::body(said, around),
        Api::Messages => messages::body(said, around),
        Api::Gemini => gemini::body(said, around),
    }
}

/// `kind` and `code` are OpenAI's; Anthropic and Google have words of their own for a status.
pub(super) fn error(api: Api, status: u16, kind: &str, code: &Value, message: &str) -> Value {
    match api {
        Api::Chat | Api::Responses => chat::error(kind, code, message),
        Api::Messages => messages::error(status, message),
        Api::Gemini => gemini::error(status, message),
    }
}

pub(super) fn models(api: Api, ids: &[String]) -> Value {
    match api {
        Api::Chat | Api::Responses => chat::models(ids),
        Api::Messages => messages::models(ids),
        Api::Gemini => gemini::models(ids),
    }
}

/// The member in which an API has the text of an answer.
pub(super) fn text_member(api: Api) -> &'static str {
    if api == Api::Chat { "content" } else { "text" }
}

pub(super) enum Streamed {
    Events(Vec<Vec<u8>>),
    /// One JSON list of all events.
    List(Value),
}

/// `None`: the request asks for an answer in one piece. `given`: the pieces of the text, if the reply has its own.
pub(super) fn streamed(
    api: Api,
    target: &str,
    asked: &Value,
    body: &Value,
    given: Option<&[String]>,
) -> Option<Streamed> {
    if api == Api::Gemini {
        let events = gemini::events(body, given);
        return gemini_stream(target).map(|stream| match stream {
            GeminiStream::List => Streamed::List(events.into()),
            GeminiStream::Events => Streamed::Events(
                events
                    .iter()
                    .map(|event: &Value| format!("data: {event}\r\n\r\n").into_bytes())
                    .collect(),
            ),
        });
    }
    if asked["stream"] != true {
        return None;
    }
    Some(Streamed::Events(match api {
        Api::Responses => responses::events(body, given),
        Api::Messages => messages::events(body, given),
        Api::Chat | Api::Gemini => chat::events(body, given, asked),
    }))
}
