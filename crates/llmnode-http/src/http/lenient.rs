//! Lenient deserializers: a value of the wrong type becomes `None`.
//!
//! They are visitors of serde, and not a `Value` that is looked through: a text
//! stays borrowed from the body, and what nobody wants is read over without being
//! held. `deserialize_with = "text"` and its like, at the end of the file, are how
//! the structs of all APIs use them.
//!
//! What holds a piece of an answer is read strictly instead ([`known_object`],
//! [`known_text`]): left out, it would change what the model said. There only
//! `null`, and the empty list that some languages write for an empty object, mean
//! nothing.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use llmnode_model::TokenUsage;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// What a value of each kind becomes. Kinds that are not wanted become the default,
/// and are read over.
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

/// As serde tells numbers apart.
#[derive(Clone, Copy)]
pub(crate) enum Number {
    Natural(u64),
    Negative(i64),
    Float(f64),
}

/// Makes a visitor of serde of it, which never fails because of a type.
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

/// A text; a number counts as its digits, since some servers write ids so.
struct Text;

impl<'de> LenientVisitor<'de> for Text {
    type Value = Option<Cow<'de, str>>;

    fn string(self, text: Cow<'de, str>) -> Self::Value {
        Some(text)
    }
    fn number(self, number: Number) -> Self::Value {
        let digits = match number {
            Number::Natural(number) => number.to_string(),
            Number::Negative(number) => number.to_string(),
            Number::Float(number) => number.to_string(),
        };
        Some(Cow::Owned(digits))
    }
}

/// A number of tokens as a server reports it.
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
    let mut has_counted = false;
    let mut is_impossible = false;
    for figure in figures {
        has_counted |= figure.tokens > Some(0);
        is_impossible |= figure.impossible;
    }
    let usage = if has_counted { Some(usage) } else { None };
    (usage, is_impossible)
}

/// Whole floats count, since some languages have no other numbers.
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
        Count {
            tokens,
            impossible: tokens.is_none(),
        }
    }
}

/// An object that is a piece of an answer.
pub(crate) struct StrictObject<T>(pub(crate) PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for StrictObject<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object, which is a piece of the answer")
    }
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let is_empty = list.next_element::<IgnoredAny>()?.is_none();
        if is_empty {
            return Ok(None);
        }
        Err(A::Error::custom(
            "a list where an object is a piece of the answer",
        ))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let object = T::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Some(object))
    }
}

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for StrictObject<T> {
    type Value = Option<T>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

/// A list of pieces of an answer.
struct StrictObjects<T>(PhantomData<T>);

/// No answer has as many, and each of them takes many times the memory of its bytes.
const MOST_PIECES: usize = 10_000;

impl<'de, T: Deserialize<'de>> Visitor<'de> for StrictObjects<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects, which are pieces of the answer")
    }
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(element) = list.next_element_seed(StrictObject(PhantomData))? {
            if all.len() == MOST_PIECES {
                let fault = format!("more than {MOST_PIECES}, and no answer has as many");
                return Err(A::Error::custom(fault));
            }
            all.extend(element);
        }
        Ok(all)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let is_empty = map.next_entry::<IgnoredAny, IgnoredAny>()?.is_none();
        if is_empty {
            return Ok(Vec::new());
        }
        Err(A::Error::custom(
            "an object where a list has pieces of the answer",
        ))
    }
}

/// A text that is a piece of an answer.
struct StrictText;

impl<'de> Visitor<'de> for StrictText {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, which is a piece of the answer")
    }
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
    }
}

/// Words that are shown and no part of the answer: what is no text is shown as the JSON that it is.
struct Words;

impl<'de> LenientVisitor<'de> for Words {
    type Value = Option<Cow<'de, str>>;

    fn string(self, text: Cow<'de, str>) -> Self::Value {
        Some(text)
    }
    fn number(self, number: Number) -> Self::Value {
        Text.number(number)
    }
    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = list.next_element::<&RawValue>()? {
            all.push(item.get());
        }
        if all.is_empty() {
            return Ok(None);
        }
        let items = all.join(",");
        Ok(Some(Cow::Owned(format!("[{items}]"))))
    }
    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some((name, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            all.push(format!("{}:{}", name.get(), value.get()));
        }
        if all.is_empty() {
            return Ok(None);
        }
        let members = all.join(",");
        Ok(Some(Cow::Owned(format!("{{{members}}}"))))
    }
}

pub(crate) struct Object<T>(pub(crate) PhantomData<T>);

impl<'de, T: Deserialize<'de>> LenientVisitor<'de> for Object<T> {
    type Value = Option<T>;

    fn map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let object = T::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Some(object))
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

/// Which of several answers it is.
pub(crate) trait Indexed {
    fn index(&self) -> Count;
}

struct Answers<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Indexed> Visitor<'de> for Answers<T> {
    type Value = Option<First<T>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of answers")
    }
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut first = First {
            answer: None,
            others: false,
        };
        while let Some(answer) = list.next_element_seed(StrictObject(PhantomData::<T>))? {
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
    if let Some(word) = word
        && slot.as_deref() != Some(&*word)
    {
        *slot = Some(word.into_owned());
    }
}

pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    Lenient(Text).deserialize(from)
}

pub(crate) fn tokens<'de, D: Deserializer<'de>>(from: D) -> Result<Count, D::Error> {
    Lenient(Tokens).deserialize(from)
}

pub(crate) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    Lenient(Object(PhantomData)).deserialize(from)
}

/// The strict ones are named `known_`: what is in them is known to be a piece of
/// the answer.
pub(crate) fn known_object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    from.deserialize_any(StrictObject(PhantomData))
}

pub(crate) fn known_objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    from.deserialize_any(StrictObjects(PhantomData))
}

pub(crate) fn known_text<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Cow<'de, str>>, D::Error> {
    from.deserialize_any(StrictText)
}

pub(crate) fn words<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    Lenient(Words).deserialize(from)
}

pub(crate) fn first<'de, D, T>(from: D) -> Result<Option<First<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Indexed,
{
    from.deserialize_any(Answers(PhantomData))
}

#[cfg(feature = "anthropic")]
pub(crate) fn objects<'de, D, T>(from: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Lenient(Objects(PhantomData)).deserialize(from)
}
