//! What a server reports of usage beside an answer.
//!
//! It never costs the answer, which is paid for: a report may stand there twice, have a member twice, be a list, or have
//! figures that no number can hold. So it is taken out of the object that it stands in as it was written ([`Reported`]), and
//! read by itself ([`largest`]). Of several reports the larger figures count, since totals only grow.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{CowStrDeserializer, MapAccessDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// An object, and the reports that stand in it.
#[derive(Debug, Default)]
pub(crate) struct Reported<'a, T> {
    pub(crate) rest: T,
    pub(crate) usage: Vec<&'a RawValue>,
}

const NAMES: [&str; 2] = ["usage", "usageMetadata"];

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Reported<'de, T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Object(PhantomData))
    }
}

struct Object<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
    type Value = Reported<'de, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let mut usage = Vec::new();
        let others = Others { map, usage: &mut usage };
        let rest = T::deserialize(MapAccessDeserializer::new(others))?;
        Ok(Reported { rest, usage })
    }
}

/// The members that are no reports.
struct Others<'u, 'de, A> {
    map: A,
    usage: &'u mut Vec<&'de RawValue>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Others<'_, 'de, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(Name(name)) = self.map.next_key()? {
            if !NAMES.contains(&&*name) {
                return seed.deserialize(CowStrDeserializer::new(name)).map(Some);
            }
            self.usage.push(self.map.next_value()?);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// Borrowed where it has no escapes: serde borrows no `Cow` by itself.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// The figures of an API.
pub(crate) trait Figures: DeserializeOwned {
    /// Takes each figure of a later report that is larger, or was unknown.
    fn grow(&mut self, later: Self);
}

/// The largest figures of these reports. `None`: there are none in them.
pub(crate) fn largest<F: Figures>(reports: &[&RawValue]) -> Option<F> {
    let mut all = reports.iter().filter_map(|report| figures_in::<F>(report));
    let mut largest = all.next()?;
    all.for_each(|later| largest.grow(later));
    Some(largest)
}

/// As above, with what earlier events reported.
pub(crate) fn grow<F: Figures>(known: &mut Option<F>, reports: &[&RawValue]) {
    let Some(later) = largest::<F>(reports) else { return };
    match known {
        Some(known) => known.grow(later),
        None => *known = Some(later),
    }
}

/// JSON as far as it can be held.
pub(crate) fn value_of(json: &[u8]) -> Option<Value> {
    let direct = serde_json::from_slice(json).ok();
    direct.or_else(|| serde_json::from_slice::<&RawValue>(json).ok().map(readable))
}

fn figures_in<T: DeserializeOwned>(report: &RawValue) -> Option<T> {
    if !report.get().starts_with('{') {
        return None;
    }
    let direct = serde_json::from_str(report.get());
    direct.or_else(|_| T::deserialize(readable(report))).ok()
}

/// The same with what a number can hold, and each member once: of two numbers the larger.
fn readable(json: &RawValue) -> Value {
    match json.get().as_bytes().first() {
        Some(b'{') => serde_json::from_str(json.get()).map(|Members(members)| Value::Object(members)),
        Some(b'[') => serde_json::from_str(json.get()).map(|Items(items)| Value::Array(items)),
        // Beyond all numbers, and so impossible.
        Some(b'-' | b'0'..=b'9') => Ok(serde_json::from_str(json.get()).unwrap_or(Value::from(f64::MAX))),
        _ => serde_json::from_str(json.get()),
    }
    .unwrap_or_default()
}

struct Members(Map<String, Value>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(AllMembers)
    }
}

struct AllMembers;

impl<'de> Visitor<'de> for AllMembers {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let value = readable(map.next_value::<&RawValue>()?);
            let known = members.get(&name).and_then(Value::as_f64);
            if known.is_none() || known < value.as_f64() {
                members.insert(name, value);
            }
        }
        Ok(Members(members))
    }
}

struct Items(Vec<Value>);

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let items: Vec<&RawValue> = Deserialize::deserialize(from)?;
        Ok(Items(items.into_iter().map(readable).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default)]
    struct Answer {
        text: String,
    }

    #[test]
    fn reports_stand_beside_what_they_stand_in() {
        let of = |json: &str| {
            let read: Reported<'_, Answer> = serde_json::from_str(json).unwrap();
            assert_eq!(read.rest.text, "a", "{json}");
            read.usage.iter().map(|report| report.get().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of(r#"{"text":"a"}"#), [""; 0]);
        assert_eq!(of(r#"{"usage":{"a":1e999},"text":"a","usage":[]}"#), [r#"{"a":1e999}"#, "[]"]);
        assert_eq!(of(r#"{"usageMetadata":null,"text":"a","us\u0061ge":7}"#), ["null", "7"]);
        assert!(serde_json::from_str::<Reported<'_, Answer>>(r#"{"text":"a","text":"b"}"#).is_err());
        assert!(serde_json::from_str::<Reported<'_, Answer>>("7").is_err());
    }

    #[test]
    fn what_no_number_can_hold_is_read_all_the_same() {
        let read = value_of(br#"{"a":1e999,"b":[-1e999,"x"],"c":1,"c":3,"c":2,"d":"\ud83d"}"#).unwrap();
        assert_eq!(read["a"], Value::from(f64::MAX));
        assert_eq!((&read["b"][1], &read["c"]), (&Value::from("x"), &Value::from(3)));
        assert_eq!(value_of(b"{"), None);
    }
}
