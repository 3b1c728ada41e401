//! OpenAI's Responses API, without anything that the server would have to remember.
//!
//! `store: false` and encrypted reasoning make each request complete by itself: a
//! conversation can be continued by another process, with another key or at another
//! server, as with the other APIs. What is written here differs from chat
//! completions in three ways: a conversation is a list of items (`items.rs`), the
//! last event of a stream has the whole response (`stream.rs`), and the settings
//! have other names (`request.rs`).

mod answer;
mod items;
mod request;
mod stream;
mod usage;

use super::chat::CHAT;
use crate::api::sent_calls::IdForm;
use crate::api::wire::Wire;
use crate::http::endpoint::ApiPath;
use crate::refusal::efforts::Efforts;

/// What is not named is as in chat completions.
pub(super) const RESPONSES: Wire = Wire {
    name: llmnode_model::ApiKind::Responses,
    tag: "openai-responses",
    api: ApiPath {
        path: "/responses",
        example: "https://api.openai.com/v1",
    },
    reserved_fields: &["input", "instructions", "model", "stream"],
    joined: &["include", "reasoning", "text", "tools"],
    efforts: Efforts {
        field: ("reasoning", "/effort"),
        ..CHAT.efforts
    },
    hosts: &["api.openai.com", "openai.azure.com"],
    id_form: IdForm::Short,
    encode: request::encode,
    read: answer::read,
    stream: || Box::<stream::PartialResponse>::default(),
    ..CHAT
};
