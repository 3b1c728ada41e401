//! A server's answer, read so that nothing dispensable fails an answer that was paid for.
//!
//! Compatible servers differ in ids (`null`, numbers), words (`finish_reason`), numbers (floats, negatives, beyond 64 bits) and
//! shapes (content as a string or as parts). Only broken JSON is an error here; anything else of an unknown shape is treated as
//! absent.

use std::borrow::Cow;
use std::marker::PhantomData;

use llmnode_model::FinishReason;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::calls::{FunctionCall, ToolCall, tool_calls};
use crate::api::ends;
use crate::http::lenient::{Count, Lenient, LenientVisitor, Object, object, text, tokens};

/// Or an error object with status 200.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Response<'a> {
    #[serde(borrow, deserialize_with = "text")]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "text")]
    pub(super) model: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "the_answer")]
    pub(super) choices: Choices<'a>,
}

/// Requests never ask for more than one choice.
#[derive(Debug, Default)]
#[allow(clippy::large_enum_variant, reason = "there is one of it")]
pub(super) enum Choices<'a> {
    #[default]
    Absent,
    Empty,
    Answer(Choice<'a>, bool),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice<'a> {
    #[serde(deserialize_with = "tokens")]
    pub(super) index: Count,
    #[serde(borrow, deserialize_with = "text")]
    pub(super) finish_reason: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "object")]
    pub(super) message: Option<Message<'a>>,
}

impl Choice<'_> {
    pub(super) fn has_failed(&self) -> bool {
        self.finish_reason.as_deref().and_then(ends::finish) == Some(FinishReason::Error)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow, deserialize_with = "content")]
    pub(super) content: ContentTexts<'a>,
    #[serde(borrow, deserialize_with = "text")]
    pub(super) refusal: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "tool_calls")]
    pub(super) tool_calls: Vec<ToolCall<'a>>,
    /// DeepSeek, Moonshot and llama.cpp.
    #[serde(borrow, deserialize_with = "text")]
    pub(super) reasoning_content: Option<Cow<'a, str>>,
    /// OpenRouter, Groq and vLLM.
    #[serde(borrow, deserialize_with = "text")]
    pub(super) reasoning: Option<Cow<'a, str>>,
    /// OpenRouter.
    #[serde(borrow)]
    pub(super) reasoning_details: Option<&'a RawValue>,
    /// LiteLLM, of Anthropic's models.
    #[serde(borrow)]
    pub(super) thinking_blocks: Option<&'a RawValue>,
    /// From before a message could have several calls.
    #[serde(borrow, deserialize_with = "object")]
    pub(super) function_call: Option<FunctionCall<'a>>,
}

impl Message<'_> {
    /// Gateways put an empty call of the older form beside texts and calls.
    pub(super) fn drop_stubs(&mut self) {
        self.tool_calls.retain(|call| !call.is_stub());
        self.function_call.take_if(|called| called.is_empty());
    }
}

#[derive(Debug, Default)]
pub(super) struct ContentTexts<'a> {
    pub(super) text: Option<Cow<'a, str>>,
    /// Mistral's parts of the type `thinking`.
    pub(super) thought: Option<Cow<'a, str>>,
}

/// A string, or parts whose texts are joined.
struct Content;

impl<'de> LenientVisitor<'de> for Content {
    type Value = ContentTexts<'de>;

    fn string(self, text: Cow<'de, str>) -> Self::Value {
        ContentTexts { text: Some(text), thought: None }
    }
    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut whole = ContentTexts::default();
        while let Some(part) = list.next_element_seed(Lenient(Part))? {
            whole.text = joined(whole.text, part.text);
            whole.thought = joined(whole.thought, part.thought);
        }
        Ok(whole)
    }
}

fn joined<'a>(whole: Option<Cow<'a, str>>, part: Option<Cow<'a, str>>) -> Option<Cow<'a, str>> {
    match (whole, part) {
        (Some(whole), Some(part)) => Some(Cow::Owned(whole.into_owned() + &part)),
        (whole, part) => whole.or(part),
    }
}

struct Part;

#[derive(Default, Deserialize)]
#[serde(default)]
struct TextPart<'a> {
    #[serde(borrow, deserialize_with = "text")]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "content")]
    thinking: ContentTexts<'a>,
}

impl<'de> LenientVisitor<'de> for Part {
    type Value = ContentTexts<'de>;

    fn string(self, text: Cow<'de, str>) -> Self::Value {
        ContentTexts { text: Some(text), thought: None }
    }
    fn map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let part = TextPart::deserialize(MapAccessDeserializer::new(map))?;
        Ok(ContentTexts { text: part.text, thought: part.thinking.text })
    }
}

struct ChoicesVisitor;

impl<'de> LenientVisitor<'de> for ChoicesVisitor {
    type Value = Choices<'de>;

    /// The choice with index 0 or without one, else the first.
    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let (mut answer, mut others): (Option<Choice<'de>>, bool) = (None, false);
        while let Some(choice) = list.next_element_seed(Lenient(Object(PhantomData)))? {
            let choice: Choice<'de> = choice.unwrap_or_default();
            others = answer.is_some();
            let later = |answer: &Choice<'_>| answer.index.tokens > Some(0) && choice.index.tokens == Some(0);
            if answer.as_ref().is_none_or(later) {
                answer = Some(choice);
            }
        }
        Ok(answer.map_or(Choices::Empty, |choice| Choices::Answer(choice, others)))
    }
}

pub(super) fn content<'de, D: Deserializer<'de>>(from: D) -> Result<ContentTexts<'de>, D::Error> {
    Lenient(Content).deserialize(from)
}

fn the_answer<'de, D: Deserializer<'de>>(from: D) -> Result<Choices<'de>, D::Error> {
    Lenient(ChoicesVisitor).deserialize(from)
}
