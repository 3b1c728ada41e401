//! What a server answers, read so that nothing which can be done without fails a paid-for answer.
//!
//! Servers that call themselves compatible differ in ids (`null`, numbers), words (`finish_reason`), numbers
//! (floats, negatives, beyond 64 bits) and shapes (content as a string or as parts). Only broken JSON is an
//! error here; everything else of an unknown shape is unknown.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::ledger::TokenUsage;

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
    usage: Option<Usage>,
    /// Whether there is an `error` that is not null.
    #[serde(deserialize_with = "present")]
    pub(super) error: bool,
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
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Usage {
    #[serde(deserialize_with = "tokens")]
    prompt_tokens: Option<u64>,
    #[serde(deserialize_with = "tokens")]
    completion_tokens: Option<u64>,
    #[serde(deserialize_with = "tokens")]
    total_tokens: Option<u64>,
    #[serde(deserialize_with = "object")]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(deserialize_with = "object")]
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's word for cached tokens.
    #[serde(deserialize_with = "tokens")]
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    #[serde(deserialize_with = "tokens")]
    cached_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    #[serde(deserialize_with = "tokens")]
    reasoning_tokens: Option<u64>,
}

impl Response<'_> {
    /// The usage, if the server reports any figure. Zeros throughout are what servers send that do not count.
    pub(super) fn usage(&self) -> Option<TokenUsage> {
        let usage = self.usage.as_ref()?;
        let cached = usage.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens);
        let usage = TokenUsage {
            input: usage.prompt_tokens,
            output: usage.completion_tokens,
            total: usage.total_tokens,
            cached: cached.or(usage.prompt_cache_hit_tokens),
            reasoning: usage.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens),
        };
        let figures = [usage.input, usage.output, usage.total, usage.cached, usage.reasoning];
        figures.iter().flatten().any(|tokens| *tokens > 0).then_some(usage)
    }
}

/// Reads any JSON value; a reader overrides the shapes it knows, and everything else is its default.
trait Shape<'de>: Sized {
    type Value: Default;

    fn string(self, _: Cow<'de, str>) -> Self::Value {
        Self::Value::default()
    }
    fn number(self, _: Number) -> Self::Value {
        Self::Value::default()
    }
    fn boolean(self, _: bool) -> Self::Value {
        Self::Value::default()
    }
    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::Value::default())
    }
    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::Value::default())
    }
}

/// A JSON number as serde hands it over.
#[derive(Clone, Copy)]
enum Number {
    Natural(u64),
    Negative(i64),
    Float(f64),
}

/// Turns a [`Shape`] into serde's visitor.
struct Any<S>(S);

impl<'de, S: Shape<'de>> Visitor<'de> for Any<S> {
    type Value = S::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(self.0.string(Cow::Borrowed(text)))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(self.0.string(Cow::Owned(text.to_owned())))
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(self.0.number(Number::Natural(number)))
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(self.0.number(Number::Negative(number)))
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(self.0.number(Number::Float(number)))
    }
    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(self.0.boolean(value))
    }
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Self::Value::default())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        self.0.list(list)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        self.0.map(map)
    }
}

impl<'de, S: Shape<'de>> DeserializeSeed<'de> for Any<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

/// A string, or a number as text.
struct Text;

impl<'de> Shape<'de> for Text {
    type Value = Option<Cow<'de, str>>;

    fn string(self, text: Cow<'de, str>) -> Self::Value {
        Some(text)
    }
    fn number(self, number: Number) -> Self::Value {
        Some(Cow::Owned(match number {
            Number::Natural(number) => number.to_string(),
            Number::Negative(number) => number.to_string(),
            Number::Float(number) => number.to_string(),
        }))
    }
}

/// A whole number of tokens; negative, fractional or huge figures are unknown.
struct Tokens;

impl Shape<'_> for Tokens {
    type Value = Option<u64>;

    fn number(self, number: Number) -> Self::Value {
        // Beyond 2^53 a float no longer says which whole number it stands for.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match number {
            Number::Natural(number) => Some(number),
            Number::Float(float) if (0.0..=EXACT).contains(&float) && float.fract() == 0.0 => {
                Some(float as u64)
            }
            _ => None,
        }
    }
}

/// Whether a value is there and says anything.
struct Present;

impl<'de> Shape<'de> for Present {
    type Value = bool;

    fn string(self, text: Cow<'de, str>) -> bool {
        !text.is_empty()
    }
    fn number(self, _: Number) -> bool {
        true
    }
    fn boolean(self, value: bool) -> bool {
        value
    }
    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<bool, A::Error> {
        let mut any = false;
        while list.next_element::<IgnoredAny>()?.is_some() {
            any = true;
        }
        Ok(any)
    }
    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(true)
    }
}

/// An object of `T`; anything else is `None`.
struct Object<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Shape<'de> for Object<T> {
    type Value = Option<T>;

    fn map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Some)
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

fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    Any(Text).deserialize(from)
}

fn content<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    Any(Content).deserialize(from)
}

fn tokens<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Any(Tokens).deserialize(from)
}

fn present<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Any(Present).deserialize(from)
}

fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    Any(Object(PhantomData)).deserialize(from)
}

fn first_choice<'de, D: Deserializer<'de>>(from: D) -> Result<Choices<'de>, D::Error> {
    Any(FirstChoice).deserialize(from)
}
