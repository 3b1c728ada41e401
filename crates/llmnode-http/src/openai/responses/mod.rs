//! OpenAI's Responses API, without anything that the server would have to remember.

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

pub(super) const RESPONSES: Wire = Wire {
    name: llmnode_model::ApiKind::Responses,
    tag: "openai-responses",
    api: ApiPath {
        path: "/responses",
        example: "https://api.openai.com/v1",
    },
    own: &["input", "instructions", "model", "stream"],
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
