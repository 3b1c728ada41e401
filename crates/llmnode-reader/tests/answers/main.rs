//! 150 answers as models write them to 15 types, judged by hand before the reader was written (see `README.md`): none may
//! give a wrong value, and most of what a careful person would read has to be read.
//!
//! `cargo test -p llmnode-reader --test answers -- --nocapture` prints the rows that were not read or not refused.

#[allow(dead_code, unreachable_pub, reason = "as a user would write them")]
#[path = "types.rs"]
mod types;

use std::collections::BTreeMap;

use llmnode_reader::Reader;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use types::*;

#[derive(Deserialize)]
struct Row {
    id: String,
    r#type: String,
    answer: String,
    #[serde(default, deserialize_with = "present")]
    expected: Option<Value>,
}

/// An `expected` of `null` is a value.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

fn read<T: DeserializeOwned + JsonSchema + Serialize + 'static>(
    answer: &str,
) -> Result<Value, String> {
    let reading = Reader::new()
        .read::<T>(answer)
        .map_err(|error| error.to_string())?;
    serde_json::to_value(reading.value).map_err(|error| error.to_string())
}

fn read_as(of: &str, answer: &str) -> Result<Value, String> {
    match of {
        "Triage" => read::<Triage>(answer),
        "Category" => read::<Category>(answer),
        "Invoice" => read::<Invoice>(answer),
        "Vec<Person>" => read::<Vec<Person>>(answer),
        "Person" => read::<Person>(answer),
        "ProductFilter" => read::<ProductFilter>(answer),
        "AgentStep" => read::<AgentStep>(answer),
        "FlashCard" => read::<FlashCard>(answer),
        "FileEdit" => read::<FileEdit>(answer),
        "Verdict" => read::<Verdict>(answer),
        "Place" => read::<Place>(answer),
        "SummaryOptions" => read::<SummaryOptions>(answer),
        "Sentiment" => read::<Sentiment>(answer),
        "Shipment" => read::<Shipment>(answer),
        "Snippet" => read::<Snippet>(answer),
        "Option<Snippet>" => read::<Option<Snippet>>(answer),
        "BTreeMap<String, f64>" => read::<BTreeMap<String, f64>>(answer),
        "Vec<String>" => read::<Vec<String>>(answer),
        "f64" => read::<f64>(answer),
        "bool" => read::<bool>(answer),
        other => Err(format!("no such type: {other}")),
    }
}

#[test]
fn nothing_wrong_is_read_and_most_of_the_rest_is() {
    let (mut read, mut readable, mut refused, mut wrong) = (0, 0, 0, Vec::new());
    for line in include_str!("answers.jsonl").lines() {
        let row: Row = serde_json::from_str(line).unwrap();
        readable += usize::from(row.expected.is_some());
        match (read_as(&row.r#type, &row.answer), row.expected) {
            (Ok(value), Some(expected)) if value == expected => read += 1,
            (Ok(value), _) => wrong.push(format!("{}: {value}", row.id)),
            (Err(_), None) => refused += 1,
            (Err(error), Some(_)) => println!("{} ({}) is refused: {error}", row.id, row.r#type),
        }
    }
    println!(
        "read {read} of {readable}; refused {refused}; wrong {}",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(read * 100 >= readable * 85, "{read} of {readable}");
}
