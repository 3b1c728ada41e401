//! Any text, read as a value of a type.

use std::collections::BTreeMap;
use std::fmt::Debug;

use llmnode_reader::Reader;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::reads::read_as;
use super::slices::any_is;
use super::untyped::is_exact;

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Item {
    name: String,
    #[serde(default)]
    count: i32,
    size: Option<Size>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Size {
    Small,
    Large,
    VeryLarge,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle { size: f64 },
    Named { name: String, tags: Vec<String> },
    Nothing,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Count(i64),
    Flag(bool),
    Item { name: String },
    Word(String),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Tree {
    name: String,
    children: Vec<Tree>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Only {
    value: Vec<u8>,
}

pub(crate) fn holds(text: &str) {
    // One type a text: which one depends on the whole of it.
    let sum = text.bytes().fold(7_u32, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(byte.into())
    });
    match sum % 13 {
        0 => object::<Item>(text),
        1 => wrapped::<Vec<Item>>(text),
        2 => wrapped::<Size>(text),
        3 => wrapped::<i64>(text),
        4 => wrapped::<bool>(text),
        5 => wrapped::<Option<f64>>(text),
        6 => object::<BTreeMap<String, i64>>(text),
        7 => wrapped::<Shape>(text),
        8 => wrapped::<Either>(text),
        9 => object::<Tree>(text),
        10 => wrapped::<Vec<String>>(text),
        11 => object::<Only>(text),
        _ => wrapped::<u8>(text),
    }
}

trait Output: DeserializeOwned + JsonSchema + Serialize + PartialEq + Debug + 'static {}
impl<T: DeserializeOwned + JsonSchema + Serialize + PartialEq + Debug + 'static> Output for T {}

/// A type whose JSON is an object: serde_json's word counts for clean objects.
fn object<T: Output>(text: &str) {
    let clean = || serde_json::from_str::<T>(text).ok();
    always::<T>(
        text,
        if text.trim_start().starts_with('{') {
            clean()
        } else {
            None
        },
    );
}

/// A type that is asked for as `{"value": ..}`.
fn wrapped<T: Output>(text: &str) {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wrapped<T> {
        value: T,
    }
    // An `Option` takes `{}` for its absence.
    let clean = serde_json::from_str::<Wrapped<T>>(text)
        .ok()
        .filter(|_| text.contains("value"));
    always::<T>(text, clean.map(|wrapped| wrapped.value));
}

fn always<T: Output>(text: &str, clean: Option<T>) {
    let fitted = read_as::<T>(Reader::new(), text);
    let exact = read_as::<T>(Reader::new().exact(true), text);
    if let (Some(clean), Ok(reading)) = (&clean, &fitted) {
        // A member by another spelling is unknown to serde.
        assert!(
            &reading.value == clean || !reading.repairs.is_empty(),
            "{reading:?} is not {clean:?}"
        );
    }
    if let (Some(clean), Ok(reading)) = (&clean, &exact) {
        assert_eq!(&reading.value, clean);
    }
    if let Ok(exact) = &exact {
        is_exact(&exact.repairs);
        // A `null` that stands for an absent member is not what serde takes.
        if !text.contains("null") && !text.contains("\"value\"") {
            assert!(
                any_is(text, &exact.value),
                "{:?} is nowhere in the text",
                exact.value
            );
        }
        // What can be made to fit is one more value, so that more is refused.
        if let Ok(fitted) = &fitted {
            assert_eq!(fitted.value, exact.value, "read exactly, and not");
        }
    }
    for read in [fitted, exact].into_iter().flatten() {
        is_stable(&read.value);
    }
}

/// What was read, once written, is read as the same, and there is nothing to say about it.
fn is_stable<T: Output>(value: &T) {
    let written = serde_json::to_string(value)
        .unwrap_or_else(|error| panic!("{value:?} is not written: {error}"));
    for reader in [Reader::new(), Reader::new().exact(true)] {
        match read_as::<T>(reader, &written) {
            Ok(again) => assert!(
                &again.value == value && again.repairs.is_empty(),
                "{again:?} was {value:?}"
            ),
            Err(error) => panic!("{written} is refused: {error}"),
        }
    }
}
