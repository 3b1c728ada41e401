//! A server's answer, read so that nothing dispensable fails an answer that was paid for.
//!
//! Compatible servers differ in ids (`null`, numbers), words (`finish_reason`),
//! numbers (floats, negatives, beyond 64 bits) and shapes (content as a string or
//! as parts). What is dispensable and of an unknown shape is treated as absent.
//! Broken JSON is an error, and so is a piece of the answer that cannot be read:
//! without it, the answer would say something else.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use llmnode_model::FinishReason;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::calls::{FunctionCall, ToolCalls, tool_calls};
use crate::api::ends;
use crate::http::lenient::{
    Count, Lenient, LenientVisitor, Object, StrictObject, known_object, known_text, object, text,
    tokens, words,
};
use crate::http::reported::Reporting;
use crate::http::usage::Usage;

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
    #[serde(deserialize_with = "object")]
    pub(super) usage: Option<Usage>,
    #[serde(borrow, deserialize_with = "text")]
    pub(super) service_tier: Option<Cow<'a, str>>,
}

impl<'a> Reporting<'a> for Response<'a> {
    type Figures = Usage;

    fn usage(&mut self) -> &mut Option<Usage> {
        &mut self.usage
    }
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

/// A server may leave out the message of a choice that failed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice<'a> {
    #[serde(deserialize_with = "tokens")]
    pub(super) index: Count,
    #[serde(borrow, deserialize_with = "text")]
    pub(super) finish_reason: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "known_object")]
    pub(super) message: Option<Message<'a>>,
}

impl Choice<'_> {
    pub(super) fn has_failed(&self) -> bool {
        let reason = self.finish_reason.as_deref();
        reason.and_then(ends::finish) == Some(FinishReason::Error)
    }
}

/// All members in which servers put parts of the answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow, deserialize_with = "content")]
    pub(super) content: ContentTexts<'a>,
    #[serde(borrow, deserialize_with = "words")]
    pub(super) refusal: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "tool_calls")]
    pub(super) tool_calls: ToolCalls<'a>,
    /// DeepSeek, Moonshot and llama.cpp.
    #[serde(borrow, deserialize_with = "words")]
    pub(super) reasoning_content: Option<Cow<'a, str>>,
    /// OpenRouter, Groq and vLLM.
    #[serde(borrow, deserialize_with = "words")]
    pub(super) reasoning: Option<Cow<'a, str>>,
    /// OpenRouter.
    #[serde(borrow)]
    pub(super) reasoning_details: Option<&'a RawValue>,
    /// LiteLLM, of Anthropic's models.
    #[serde(borrow)]
    pub(super) thinking_blocks: Option<&'a RawValue>,
    /// From before a message could have several calls.
    #[serde(borrow, deserialize_with = "known_object")]
    pub(super) function_call: Option<FunctionCall<'a>>,
}

impl Message<'_> {
    /// Gateways put an empty call of the older form beside texts and calls.
    pub(super) fn drop_stubs(&mut self) {
        self.tool_calls.calls.retain(|call| !call.is_stub());
        self.function_call.take_if(|called| called.is_empty());
    }
}

/// What stands in `content`, by what it is.
#[derive(Debug, Default)]
pub(super) struct ContentTexts<'a> {
    pub(super) text: Option<Cow<'a, str>>,
    /// Mistral's parts of the type `thinking`.
    pub(super) thought: Option<Cow<'a, str>>,
    /// Of parts of the type `refusal`.
    pub(super) refusal: Option<Cow<'a, str>>,
}

/// A string, or parts whose texts are joined.
struct Content;

impl<'de> Visitor<'de> for Content {
    type Value = ContentTexts<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of parts, which are pieces of the answer")
    }
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(ContentTexts::default())
    }
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(ContentTexts {
            text: Some(Cow::Borrowed(text)),
            ..ContentTexts::default()
        })
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(ContentTexts {
            text: Some(Cow::Owned(text.to_owned())),
            ..ContentTexts::default()
        })
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut whole = ContentTexts::default();
        while let Some(part) = list.next_element_seed(Part)? {
            whole.text = joined(whole.text, part.text);
            whole.thought = joined(whole.thought, part.thought);
            whole.refusal = joined(whole.refusal, part.refusal);
        }
        Ok(whole)
    }
}

/// A text stays borrowed as long as it is alone.
fn joined<'a>(whole: Option<Cow<'a, str>>, part: Option<Cow<'a, str>>) -> Option<Cow<'a, str>> {
    match (whole, part) {
        (Some(whole), Some(part)) => Some(Cow::Owned(whole.into_owned() + &part)),
        (whole, part) => whole.or(part),
    }
}

/// Parts of other types, such as references and images, have no text.
struct Part;

#[derive(Default, Deserialize)]
#[serde(default)]
struct ContentPart<'a> {
    #[serde(borrow, deserialize_with = "known_text")]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "content")]
    thinking: ContentTexts<'a>,
    #[serde(borrow, deserialize_with = "words")]
    refusal: Option<Cow<'a, str>>,
}

impl<'de> Visitor<'de> for Part {
    type Value = ContentTexts<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a part, which is a piece of the answer")
    }
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(ContentTexts::default())
    }
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Content.visit_borrowed_str(text)
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Content.visit_str(text)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let ContentPart {
            text,
            thinking,
            refusal,
        } = ContentPart::deserialize(MapAccessDeserializer::new(map))?;
        Ok(ContentTexts {
            text,
            thought: thinking.text,
            refusal,
        })
    }
}

impl<'de> DeserializeSeed<'de> for Part {
    type Value = ContentTexts<'de>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

struct ChoicesVisitor;

impl<'de> LenientVisitor<'de> for ChoicesVisitor {
    type Value = Choices<'de>;

    /// The choice with index 0 or without one, else the first.
    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut answer: Option<Choice<'de>> = None;
        let mut others: bool = false;
        while let Some(choice) = next_choice(&mut list, answer.is_some())? {
            others = answer.is_some();
            let is_better = match &answer {
                None => true,
                Some(before) => before.index.tokens > Some(0) && choice.index.tokens == Some(0),
            };
            if is_better {
                answer = Some(choice);
            }
        }
        Ok(match answer {
            Some(choice) => Choices::Answer(choice, others),
            None => Choices::Empty,
        })
    }
}

/// Only the answer has to be one.
fn next_choice<'de, A: SeqAccess<'de>>(
    list: &mut A,
    is_dispensable: bool,
) -> Result<Option<Choice<'de>>, A::Error> {
    let choice: Option<Option<Choice<'de>>> = match is_dispensable {
        true => list.next_element_seed(Lenient(Object(PhantomData)))?,
        false => list.next_element_seed(StrictObject(PhantomData))?,
    };
    Ok(choice.map(Option::unwrap_or_default))
}

pub(super) fn content<'de, D: Deserializer<'de>>(from: D) -> Result<ContentTexts<'de>, D::Error> {
    from.deserialize_any(Content)
}

fn the_answer<'de, D: Deserializer<'de>>(from: D) -> Result<Choices<'de>, D::Error> {
    Lenient(ChoicesVisitor).deserialize(from)
}
