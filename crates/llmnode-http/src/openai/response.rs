//! What a server answers, read so that nothing which can be done without fails a paid-for answer.
//!
//! Servers that call themselves compatible differ in ids (`null`, numbers), words (`finish_reason`), numbers
//! (floats, negatives, beyond 64 bits) and shapes (content as a string or as parts). Only broken JSON is an
//! error here; everything else of an unknown shape is unknown.

use std::borrow::Cow;
use std::marker::PhantomData;

use llmnode_runtime::TokenUsage;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess};
use serde::{Deserialize, Deserializer};

use super::calls::{FunctionCall, ToolCall, tool_calls};
use crate::http::lenient::{Any, Object, Shape, object, text};
use crate::http::usage::Usage;

/// A chat completion, or an error object that came with status 200.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Response<'a> {
    #[serde(borrow, deserialize_with = "text")]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "text")]
    pub(super) model: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "first_choice")]
    pub(super) choices: Choices<'a>,
    #[serde(deserialize_with = "object")]
    pub(super) usage: Option<Usage>,
}

/// The first choice: only one is ever asked for.
#[derive(Debug, Default)]
pub(super) enum Choices<'a> {
    /// The member is missing, null or no list.
    #[default]
    Absent,
    Empty,
    First(Choice<'a>),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice<'a> {
    #[serde(borrow, deserialize_with = "text")]
    pub(super) finish_reason: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "object")]
    pub(super) message: Option<Message<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow, deserialize_with = "content")]
    pub(super) content: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "text")]
    pub(super) refusal: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "tool_calls")]
    pub(super) tool_calls: Vec<ToolCall<'a>>,
    /// How a call was told before there were several.
    #[serde(borrow, deserialize_with = "object")]
    pub(super) function_call: Option<FunctionCall<'a>>,
}

impl Response<'_> {
    /// The usage, if the server reports any figure, and whether it reports one that cannot be.
    pub(super) fn usage(&self) -> (Option<TokenUsage>, bool) {
        self.usage.as_ref().map(Usage::figures).unwrap_or_default()
    }
}

/// Content: a string, or parts of which the texts are joined.
struct Content;

impl<'de> Shape<'de> for Content {
    type Value = Option<Cow<'de, str>>;

    fn string(self, text: Cow<'de, str>) -> Self::Value {
        Some(text)
    }
    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut whole: Self::Value = None;
        while let Some(part) = list.next_element_seed(Any(Part))? {
            whole = match (whole, part) {
                (Some(text), Some(part)) => Some(Cow::Owned(text.into_owned() + &part)),
                (text, part) => text.or(part),
            };
        }
        Ok(whole)
    }
}

/// One part of a content: a string, or an object with a `text`.
struct Part;

#[derive(Default, Deserialize)]
#[serde(default)]
struct TextPart<'a> {
    #[serde(borrow, deserialize_with = "text")]
    text: Option<Cow<'a, str>>,
}

impl<'de> Shape<'de> for Part {
    type Value = Option<Cow<'de, str>>;

    fn string(self, text: Cow<'de, str>) -> Self::Value {
        Some(text)
    }
    fn map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        TextPart::deserialize(MapAccessDeserializer::new(map)).map(|part| part.text)
    }
}

/// The list of choices, of which the first is kept.
struct FirstChoice;

impl<'de> Shape<'de> for FirstChoice {
    type Value = Choices<'de>;

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let Some(first) = list.next_element_seed(Any(Object(PhantomData)))? else {
            return Ok(Choices::Empty);
        };
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Choices::First(first.unwrap_or_default()))
    }
}

pub(super) fn content<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    Any(Content).deserialize(from)
}

fn first_choice<'de, D: Deserializer<'de>>(from: D) -> Result<Choices<'de>, D::Error> {
    Any(FirstChoice).deserialize(from)
}
