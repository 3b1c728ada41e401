//! The files with the rules, parsed once.

use std::sync::LazyLock;

use serde_json::Value;

use crate::api::Api;

/// Files are checked by a test; one that does not parse would have no rules.
fn parsed(file: &str) -> Value {
    serde_json::from_str(file).unwrap_or_default()
}

static CHAT: LazyLock<Value> = LazyLock::new(|| parsed(include_str!("chat.json")));
static RESPONSES: LazyLock<Value> = LazyLock::new(|| parsed(include_str!("responses.json")));
static MESSAGES: LazyLock<Value> = LazyLock::new(|| parsed(include_str!("messages.json")));
static GEMINI: LazyLock<Value> = LazyLock::new(|| parsed(include_str!("gemini.json")));
static MODELS: LazyLock<Value> = LazyLock::new(|| parsed(include_str!("models.json")));

/// The rules of an API, in order.
pub(super) fn rules(api: Api) -> &'static [Value] {
    let file: &'static Value = match api {
        Api::Chat => &CHAT,
        Api::Responses => &RESPONSES,
        Api::Messages => &MESSAGES,
        Api::Gemini => &GEMINI,
    };
    file.as_array().map_or(&[], Vec::as_slice)
}

/// The names of a group of models.
pub(super) fn group(name: &str) -> &'static Value {
    let models: &'static Value = &MODELS;
    &models["groups"][name]
}

/// When models think without being asked to.
pub(super) fn thinking() -> &'static [Value] {
    let models: &'static Value = &MODELS;
    models["thinking"].as_array().map_or(&[], Vec::as_slice)
}
