//! Lenient deserializers: a value of the wrong type becomes `None`.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use llmnode_model::TokenUsage;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

pub(crate) trait LenientVisitor<'de>: Sized {
    type Value: Default;

    fn string(self, _: Cow<'de, str>) -> Self::Value {
        Self::Value::default()
    }
    fn number(self, _: Number) -> Self::Value {
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

#[derive(Clone, Copy)]
pub(crate) enum Number {
    Natural(u64),
    Negative(i64),
    Float(f64),
}

pub(crate) struct Lenient<S>(pub(crate) S);

impl<'de, S: LenientVisitor<'de>> Visitor<'de> for Lenient<S> {
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
    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Self::Value::default())
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

impl<'de, S: LenientVisitor<'de>> DeserializeSeed<'de> for Lenient<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

struct Text;

impl<'de> LenientVisitor<'de> for Text {
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

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) tokens: Option<u64>,
    /// Negative, fractional or huge.
    pub(crate) impossible: bool,
}

impl Count {
    /// What of two reports counts.
    pub(crate) fn grow(&mut self, later: Count) {
        self.tokens = self.tokens.max(later.tokens);
        self.impossible |= later.impossible;
    }
}

/// The flag: a figure is impossible. Servers that do not count send only zeros.
pub(crate) fn reported(usage: TokenUsage, figures: &[Count]) -> (Option<TokenUsage>, bool) {
    let known = figures.iter().any(|figure| figure.tokens.is_some_and(|tokens| tokens > 0));
    (known.then_some(usage), figures.iter().any(|figure| figure.impossible))
}

struct Tokens;

impl LenientVisitor<'_> for Tokens {
    type Value = Count;

    fn number(self, number: Number) -> Self::Value {
        // 2^53: beyond it, a float does not identify an integer.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let tokens = match number {
            Number::Natural(number) => Some(number),
            Number::Float(float) if (0.0..=EXACT).contains(&float) && float.fract() == 0.0 => {
                Some(float as u64)
            }
            _ => None,
        };
        Count { tokens, impossible: tokens.is_none() }
    }
}

pub(crate) struct Object<T>(pub(crate) PhantomData<T>);

impl<'de, T: Deserialize<'de>> LenientVisitor<'de> for Object<T> {
    type Value = Option<T>;

    fn map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Some)
    }
}

#[cfg(feature = "anthropic")]
struct Objects<T>(PhantomData<T>);

#[cfg(feature = "anthropic")]
impl<'de, T: Deserialize<'de>> LenientVisitor<'de> for Objects<T> {
    type Value = Option<Vec<T>>;

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(element) = list.next_element_seed(Lenient(Object(PhantomData)))? {
            all.extend(element);
        }
        Ok(Some(all))
    }
}

/// Of several answers, the one with index 0 or without one; and whether there are others.
#[derive(Debug)]
pub(crate) struct First<T> {
    pub(crate) answer: Option<T>,
    pub(crate) others: bool,
}

pub(crate) trait Indexed {
    fn index(&self) -> Count;
}

struct Answers<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Indexed> LenientVisitor<'de> for Answers<T> {
    type Value = Option<First<T>>;

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut first = First { answer: None, others: false };
        while let Some(answer) = list.next_element_seed(Lenient(Object(PhantomData::<T>)))? {
            let Some(answer) = answer else { continue };
            match answer.index().tokens {
                None | Some(0) if first.answer.is_none() => first.answer = Some(answer),
                _ => first.others = true,
            }
        }
        Ok(Some(first))
    }
}

/// Events of a stream repeat some words.
pub(crate) fn set_if_changed(slot: &mut Option<String>, word: Option<Cow<'_, str>>) {
    if let Some(word) = word.filter(|word| slot.as_deref() != Some(word)) {
        *slot = Some(word.into_owned());
    }
}

pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    Lenient(Text).deserialize(from)
}

pub(crate) fn tokens<'de, D: Deserializer<'de>>(from: D) -> Result<Count, D::Error> {
    Lenient(Tokens).deserialize(from)
}

pub(crate) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    Lenient(Object(PhantomData)).deserialize(from)
}

pub(crate) fn first<'de, D, T>(from: D) -> Result<Option<First<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Indexed,
{
    Lenient(Answers(PhantomData)).deserialize(from)
}

#[cfg(feature = "anthropic")]
pub(crate) fn objects<'de, D, T>(from: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Lenient(Objects(PhantomData)).deserialize(from)
}
