//! What a server reports of usage beside an answer.
//!
//! It never costs the answer, which is paid for: a report may stand there twice,
//! have a member twice, be a list, or have figures that no number can hold. So an
//! object is read with its report, as nearly all are written ([`read`]). Where that
//! fails, the reports are taken out of it as they were written ([`Apart`]), and
//! each is read by itself. Of several reports the larger figures count, since
//! totals only grow.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use llmnode_reader::ext::small_tree;
use serde::de::value::{CowStrDeserializer, MapAccessDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The figures of an API.
pub(crate) trait Figures: DeserializeOwned {
    /// Takes each figure of a later report that is larger, or was unknown.
    fn grow(&mut self, later: Self);
}

/// An object in which a report may stand.
pub(crate) trait Reporting<'a>: Deserialize<'a> {
    type Figures: Figures;

    fn usage(&mut self) -> &mut Option<Self::Figures>;
}

/// Reads an object, and the largest figures of the reports in it.
pub(crate) fn read<'a, T: Reporting<'a>>(json: &'a [u8]) -> serde_json::Result<T> {
    match from_json(json) {
        Ok(object) => Ok(object),
        Err(_) => read_apart(json),
    }
}

/// From a byte slice, serde_json checks the UTF-8 of each text by itself, which
/// takes longer. A byte that is not UTF-8 counts only where a text with it is read.
pub(crate) fn from_json<'a, T: Deserialize<'a>>(json: &'a [u8]) -> serde_json::Result<T> {
    match std::str::from_utf8(json) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(json),
    }
}

/// Reads an object without its reports, and each report by itself.
#[cold]
fn read_apart<'a, T: Reporting<'a>>(json: &'a [u8]) -> serde_json::Result<T> {
    let Apart { mut rest, usage } = serde_json::from_slice::<Apart<'a, T>>(json)?;
    *rest.usage() = largest(&usage);
    Ok(rest)
}

/// An object, and the reports that stood in it.
struct Apart<'a, T> {
    rest: T,
    usage: Vec<&'a RawValue>,
}

/// The names of a report: of OpenAI's and Anthropic's APIs, and of Gemini's.
const NAMES: [&str; 2] = ["usage", "usageMetadata"];

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Apart<'de, T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Object(PhantomData))
    }
}

struct Object<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
    type Value = Apart<'de, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let mut usage = Vec::new();
        let others = Others {
            map,
            usage: &mut usage,
        };
        let rest = T::deserialize(MapAccessDeserializer::new(others))?;
        Ok(Apart { rest, usage })
    }
}

/// The members that are no reports.
struct Others<'u, 'de, A> {
    map: A,
    usage: &'u mut Vec<&'de RawValue>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Others<'_, 'de, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(Name(name)) = self.map.next_key()? {
            if !NAMES.contains(&&*name) {
                let key = seed.deserialize(CowStrDeserializer::new(name))?;
                return Ok(Some(key));
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

/// `None`: there are no figures in these reports.
fn largest<F: Figures>(reports: &[&RawValue]) -> Option<F> {
    let mut largest = None;
    for report in reports {
        grow(&mut largest, figures_in::<F>(report));
    }
    largest
}

/// Of what earlier events reported and a later one does, the larger figures.
pub(crate) fn grow<F: Figures>(earlier: &mut Option<F>, later: Option<F>) {
    match (earlier.as_mut(), later) {
        (Some(earlier), Some(later)) => earlier.grow(later),
        (None, later) => *earlier = later,
        (Some(_), None) => {}
    }
}

/// No report is as deep, and each level is looked through again.
const MOST_DEPTH: usize = 16;
/// Nor has one as many values.
const MOST_VALUES: usize = 20_000;

/// JSON as far as it can be held.
pub(crate) fn value_of(json: &[u8]) -> Option<Value> {
    if let Some(small) = small_tree(json) {
        return Some(small);
    }
    let raw = serde_json::from_slice(json).ok()?;
    Some(readable(raw))
}

fn figures_in<T: DeserializeOwned>(report: &RawValue) -> Option<T> {
    if !report.get().starts_with('{') {
        return None;
    }
    if let Ok(figures) = serde_json::from_str(report.get()) {
        return Some(figures);
    }
    T::deserialize(readable(report)).ok()
}

/// The same with what a number can hold, and each member once: of two numbers the
/// larger. What is deeper is `null`, and so are values beyond the most.
fn readable(json: &RawValue) -> Value {
    let mut left = MOST_VALUES;
    readable_at(json, MOST_DEPTH, &mut left)
}

/// `left`: how many more values are read.
fn readable_at(json: &RawValue, depth: usize, left: &mut usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else {
        return Value::Null;
    };
    let Some(rest) = left.checked_sub(1) else {
        return Value::Null;
    };
    *left = rest;
    let text = json.get();
    match text.as_bytes().first() {
        Some(b'{') => {
            let mut object = serde_json::Deserializer::from_str(text);
            let members = object.deserialize_map(Members { depth, left });
            members.unwrap_or_default()
        }
        Some(b'[') => {
            let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) else {
                return Value::Null;
            };
            let most = *left;
            let mut values = Vec::new();
            for item in items.into_iter().take(most) {
                values.push(readable_at(item, depth, left));
            }
            Value::Array(values)
        }
        // Beyond all numbers, and so impossible.
        Some(b'-' | b'0'..=b'9') => serde_json::from_str(text).unwrap_or(Value::from(f64::MAX)),
        _ => serde_json::from_str(text).unwrap_or_default(),
    }
}

/// The members of an object.
struct Members<'l> {
    depth: usize,
    left: &'l mut usize,
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let value = readable_at(map.next_value()?, self.depth, self.left);
            if *self.left == 0 {
                continue;
            }
            let seen = members.get(&name).and_then(Value::as_f64);
            if seen.is_none() || seen < value.as_f64() {
                members.insert(name, value);
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::lenient::object;

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default)]
    struct Answer {
        text: String,
        #[serde(alias = "usageMetadata", deserialize_with = "object")]
        usage: Option<Tokens>,
    }

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default)]
    struct Tokens {
        a: f64,
    }

    impl Figures for Tokens {
        fn grow(&mut self, later: Tokens) {
            self.a = self.a.max(later.a);
        }
    }

    impl Reporting<'_> for Answer {
        type Figures = Tokens;

        fn usage(&mut self) -> &mut Option<Tokens> {
            &mut self.usage
        }
    }

    #[test]
    fn no_report_costs_the_answer() {
        for (json, expected) in [
            (r#"{"text":"a"}"#, None),
            (r#"{"text":"a","usage":{"a":3}}"#, Some(3.0)),
            (r#"{"text":"a","usage":[]}"#, None),
            (
                r#"{"usage":{"a":1e999},"text":"a","usage":[]}"#,
                Some(f64::MAX),
            ),
            (r#"{"usage":{"a":1,"a":2},"text":"a"}"#, Some(2.0)),
            (
                r#"{"usageMetadata":null,"text":"a","us\u0061ge":7,"usage":{"a":4},"usage":{"a":3}}"#,
                Some(4.0),
            ),
        ] {
            let read: Answer = read(json.as_bytes()).unwrap();
            assert_eq!(
                (&*read.text, read.usage.map(|usage| usage.a)),
                ("a", expected),
                "{json}"
            );
        }
        for json in [
            r#"{"text":"a","text":"b"}"#,
            "7",
            r#"{"text":"a","usage":{"a":1}"#,
        ] {
            assert!(read::<Answer>(json.as_bytes()).is_err(), "{json}");
        }
        // An invalid byte costs the answer only if it stands in what is read.
        assert_eq!(
            read::<Answer>(b"{\"text\":\"a\",\"other\":\"\xff\"}")
                .unwrap()
                .text,
            "a"
        );
        assert!(read::<Answer>(b"{\"text\":\"\xff\"}").is_err());
    }

    #[test]
    fn what_no_number_can_hold_is_read_all_the_same() {
        let read =
            value_of(br#"{"a":1e999,"b":[-1e999,"x"],"c":1,"c":3,"c":2,"d":"\ud83d"}"#).unwrap();
        assert_eq!(read["a"], Value::from(f64::MAX));
        assert_eq!(
            (&read["b"][1], &read["c"]),
            (&Value::from("x"), &Value::from(3))
        );
        assert_eq!(value_of(b"{"), None);
    }

    /// A tree of all of it would take hundreds of megabytes.
    #[test]
    fn very_many_values_do_no_harm() {
        for many in [
            "{},".repeat(1_000_000),
            "{\"a\":1},".repeat(500_000),
            "[],".repeat(1_000_000),
        ] {
            let json = format!(r#"{{"a":3,"b":[{}0]}}"#, many);
            let read = value_of(json.as_bytes()).unwrap();
            assert_eq!(read["a"], Value::from(3));
            assert!(
                read["b"]
                    .as_array()
                    .is_none_or(|items| items.len() <= MOST_VALUES)
            );
        }
        let names: Vec<String> = (0..500_000).map(|at| format!("\"{at}\":{{}}")).collect();
        let read = value_of(format!("{{\"a\":3,{}}}", names.join(",")).as_bytes()).unwrap();
        assert!(read.as_object().unwrap().len() <= MOST_VALUES && read["a"] == 3);
    }

    #[test]
    fn depth_does_no_harm() {
        const DEPTH: usize = 200_000;
        for [begin, end] in [["[", "]"], [r#"{"b":"#, "}"]] {
            let deep = begin.repeat(DEPTH) + "1" + &end.repeat(DEPTH);
            let read = value_of(format!(r#"{{"a":3,"b":{deep}}}"#).as_bytes()).unwrap();
            assert_eq!(read["a"], Value::from(3));
            let answer: Answer =
                super::read(format!(r#"{{"text":"a","usage":{{"a":{deep}}}}}"#).as_bytes())
                    .unwrap();
            assert_eq!((&*answer.text, answer.usage), ("a", None));
        }
    }
}
