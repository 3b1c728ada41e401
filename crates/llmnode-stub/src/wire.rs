//! The four APIs by one name each: reads what a request asks for, and writes answers, streams and errors in its form.

use serde_json::Value;

use super::api::{Api, GeminiStream, gemini_stream};
use super::model_answer::{AnswerShape, Envelope, ModelAnswer};
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

pub(super) fn answer_shape(api: Api, body: &Value) -> AnswerShape<'_> {
    match api {
        Api::Chat => chat::answer_shape(body),
        Api::Responses => responses::answer_shape(body),
        Api::Messages => messages::answer_shape(body),
        Api::Gemini => gemini::answer_shape(body),
    }
}

/// `answer`: `None` is an answer without any choice.
pub(super) fn body(api: Api, answer: Option<&ModelAnswer>, around: &Envelope<'_>) -> Value {
    match api {
        Api::Chat => chat::body(answer, around),
        Api::Responses => responses::body(answer, around),
        Api::Messages => messages::body(answer, around),
        Api::Gemini => gemini::body(answer, around),
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

/// `None`: the request asks for an answer in one piece. `scripted`: the pieces of the text, if the reply has its own.
pub(super) fn streamed(
    api: Api,
    target: &str,
    request_body: &Value,
    body: &Value,
    scripted: Option<&[String]>,
) -> Option<Streamed> {
    if api == Api::Gemini {
        let events = gemini::events(body, scripted);
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
    if request_body["stream"] != true {
        return None;
    }
    Some(Streamed::Events(match api {
        Api::Responses => responses::events(body, scripted),
        Api::Messages => messages::events(body, scripted),
        Api::Chat | Api::Gemini => chat::events(body, scripted, request_body),
    }))
}
