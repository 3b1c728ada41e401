//! Chat completions, as OpenAI and the servers that implement them take them.

use super::chunks::PartialCompletion;
use super::{answer, request};
use crate::api::sent_calls::IdForm;
use crate::api::wire::Wire;
use crate::http::endpoint::ApiPath;
use crate::refusal::efforts::{Effort, Efforts, Thinking};
use crate::refusal::response_formats;

/// The words for not thinking, from the one that says so on: models that cannot be
/// switched off think least.
const OFF: &[Thinking] = &[
    Thinking::Effort(Effort::None),
    Thinking::Effort(Effort::Minimal),
    Thinking::Effort(Effort::Low),
];
/// From the most on: a model that lacks the one that is asked for gets the next one
/// below.
const EFFORTS: &[Effort] = &[
    Effort::Max,
    Effort::XHigh,
    Effort::High,
    Effort::Medium,
    Effort::Low,
];

/// The API that most servers imitate, so nothing is taken for granted here:
/// whatever OpenAI alone has is only sent where it was asked for or is known.
pub(crate) const CHAT: Wire = Wire {
    name: llmnode_model::ApiKind::Chat,
    provider: "openai",
    tag: "openai",
    title: "OpenAI",
    handle: "OpenAi",
    key_header: "authorization",
    key: "OPENAI_API_KEY",
    other_key: None,
    base_url: "OPENAI_BASE_URL",
    model: "OPENAI_MODEL",
    api: ApiPath {
        path: "/chat/completions",
        example: "https://api.openai.com/v1",
    },
    reserved_fields: &["messages", "model", "stream"],
    joined: &[],
    names: None,
    formats: response_formats::ALL,
    efforts: Efforts {
        off: OFF,
        words: EFFORTS,
        budgets: false,
        field: ("reasoning_effort", ""),
    },
    url: None,
    hosts: &[],
    limit: None,
    id_form: IdForm::Any,
    encode: request::encode,
    read: answer::read,
    stream: || Box::<PartialCompletion>::default(),
};
