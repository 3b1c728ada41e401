//! What an answer has so far, whether it comes whole or in events.

use std::borrow::Cow;
use std::collections::BTreeMap;

use llmnode_model::internal::Json;
use serde::de::{DeserializeSeed, SeqAccess};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::usage::UsageMetadata;
use crate::http::lenient::{Count, Lenient, LenientVisitor, object, objects, set_if_changed, text, tokens};

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Response<'a> {
    #[serde(borrow, deserialize_with = "objects")]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(deserialize_with = "object")]
    prompt_feedback: Option<PromptFeedback>,
    #[serde(deserialize_with = "object")]
    usage_metadata: Option<UsageMetadata>,
    #[serde(borrow, deserialize_with = "text")]
    model_version: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "text")]
    response_id: Option<Cow<'a, str>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PromptFeedback {
    block_reason: Option<String>,
    block_reason_message: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(deserialize_with = "tokens")]
    index: Count,
    #[serde(borrow, deserialize_with = "object")]
    content: Option<Content<'a>>,
    #[serde(borrow, deserialize_with = "text")]
    finish_reason: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "text")]
    finish_message: Option<Cow<'a, str>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Content<'a> {
    #[serde(borrow, deserialize_with = "raw_parts")]
    parts: Vec<&'a RawValue>,
}

#[derive(Debug)]
pub(super) enum AnswerPart {
    Text { text: String, beside: Option<Json> },
    Call { id: String, name: String, arguments: String, beside: Option<Json> },
    Thought { text: String, raw: Json },
    Other(Json),
}

#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) finish: Option<String>,
    pub(super) finish_message: Option<String>,
    /// Why the prompt is blocked.
    pub(super) block: Option<(String, String)>,
    pub(super) usage: UsageMetadata,
    pub(super) answers: bool,
    /// There are further candidates.
    pub(super) others: bool,
    pub(super) parts: Vec<AnswerPart>,
    /// Memory that it takes.
    pub(super) bytes: usize,
}

impl Gathered {
    /// Whether it was anything of an answer. What follows a finish reason belongs to the answer, too.
    pub(super) fn add(&mut self, response: Response<'_>) -> bool {
        let Response { candidates, prompt_feedback, usage_metadata, model_version, response_id } = response;
        let is_answer = candidates.is_some() || prompt_feedback.is_some() || usage_metadata.is_some();
        set_if_changed(&mut self.model, model_version);
        set_if_changed(&mut self.id, response_id);
        self.usage.update(usage_metadata.unwrap_or_default());
        if let Some(PromptFeedback { block_reason: Some(reason), block_reason_message }) = prompt_feedback {
            self.block = Some((reason, block_reason_message.unwrap_or_default()));
        }
        for candidate in candidates.into_iter().flatten() {
            match candidate.index.tokens.unwrap_or(0) {
                0 => self.candidate(candidate),
                _ => self.others = true,
            }
        }
        is_answer
    }

    fn candidate(&mut self, candidate: Candidate<'_>) {
        self.answers = true;
        if let Some(reason) = candidate.finish_reason.filter(|reason| !reason.is_empty()) {
            self.finish = Some(reason.into_owned());
            self.finish_message = candidate.finish_message.map(Cow::into_owned);
        }
        for raw in candidate.content.map(|content| content.parts).unwrap_or_default() {
            if let Some(part) = part(raw) {
                self.bytes += raw.get().len() + size_of::<AnswerPart>();
                self.parts.push(part);
            }
        }
    }
}

struct RawParts;

impl<'de> LenientVisitor<'de> for RawParts {
    type Value = Vec<&'de RawValue>;

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(part) = list.next_element()? {
            all.push(part);
        }
        Ok(all)
    }
}

fn raw_parts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<&'de RawValue>, D::Error> {
    Lenient(RawParts).deserialize(from)
}

/// What most parts of a stream are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnlyText {
    text: String,
}

fn part(raw: &RawValue) -> Option<AnswerPart> {
    if let Ok(OnlyText { text }) = serde_json::from_str(raw.get()) {
        return (!text.is_empty()).then_some(AnswerPart::Text { text, beside: None });
    }
    let members: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(raw.get()).ok()?;
    let beside = |own: &str| {
        let says = |name: &str, value: &RawValue| name != own && value.get() != "null";
        let rest = members.iter().filter(|(name, value)| says(name, value));
        let rest: BTreeMap<_, _> = rest.collect();
        if rest.is_empty() { None } else { Json::of(&rest) }
    };
    let text = |name: &str| serde_json::from_str::<String>(members.get(name)?.get()).ok();
    if let Some(called) = members.get("functionCall") {
        let called: BTreeMap<Cow<'_, str>, &RawValue> =
            serde_json::from_str(called.get()).unwrap_or_default();
        let word =
            |name: &str| called.get(name).and_then(|value| serde_json::from_str::<String>(value.get()).ok());
        let arguments = called.get("args").map(|args| args.get()).filter(|args| *args != "null");
        return Some(AnswerPart::Call {
            id: word("id").unwrap_or_default(),
            name: word("name").unwrap_or_default(),
            arguments: arguments.unwrap_or("{}").to_owned(),
            beside: beside("functionCall"),
        });
    }
    if members.get("thought").is_some_and(|thought| thought.get() == "true") {
        return Some(AnswerPart::Thought { text: text("text").unwrap_or_default(), raw: Json::new(raw) });
    }
    match text("text") {
        Some(text) => {
            let beside = beside("text");
            (!text.is_empty() || beside.is_some()).then_some(AnswerPart::Text { text, beside })
        }
        None => Some(AnswerPart::Other(Json::new(raw))),
    }
}
