//! Types of every shape, each requested with five seeds, and in each response format.
//!
//! The model's weights are random: its answers have the form that the server enforces, and no other. Where the server
//! accepts something else, or a type is narrower than its schema can express, the call corrects it, or ends in an error
//! of the right category.

use std::collections::BTreeMap;

use llmnode::{Category, ResponseFormat, Settings};
use serde_json::Value;

use crate::conforms::conforms;
use crate::shape::Shape;
use crate::support::{assert_books_agree, run};
use crate::wire::Exchange;
use crate::zoo::zoo;

const SEEDS: u64 = 5;

/// What became of the calls for one shape, each outcome with how often it was.
#[derive(Default)]
struct Outcomes {
    counts: BTreeMap<String, u32>,
    faults: Vec<String>,
}

impl Outcomes {
    fn add(&mut self, outcome: String) {
        *self.counts.entry(outcome).or_default() += 1;
    }

    fn line(&self) -> String {
        let counts = self
            .counts
            .iter()
            .map(|(outcome, count)| format!("{count} {outcome}"));
        counts.collect::<Vec<_>>().join(", ")
    }
}

/// Types that are narrower than what this server holds its model to: bounds of floats, formats of addresses, and lengths,
/// for which strict mode has no keyword.
/// Tuples and maps with numbers as keys are among them: what is sent says the members' kinds, not which stands where, and any
/// key, since that is what all providers take.
const NARROWER: [&str; 7] = [
    "char",
    "format",
    "length_and_pattern",
    "map_of_number_keys",
    "range",
    "root_tuple",
    "tuple_mixed",
];

#[derive(Default)]
struct Answered {
    answered: u32,
    calls: u32,
}

impl Answered {
    fn add(&mut self, outcomes: &Outcomes) {
        let of = |outcome: &str| outcomes.counts.get(outcome).copied().unwrap_or_default();
        self.answered += of("decoded") + of("corrected");
        self.calls += outcomes.counts.values().sum::<u32>();
    }
}

/// Whether an answer is what the server was asked for; `None`: it was not asked for anything.
fn kept_its_schema(exchange: &Exchange) -> Option<bool> {
    let tool = exchange.question.pointer("/tools/0/function/parameters");
    let schema = exchange
        .question
        .pointer("/response_format/json_schema/schema")
        .or(tool)?;
    let answer: Value = serde_json::from_str(&exchange.said()).ok()?;
    Some(conforms(&answer, schema).is_ok())
}

async fn ask(shape: &Shape, response_format: ResponseFormat, settings: Settings) -> Outcomes {
    let (run, wire) = run().await;
    let mut outcomes = Outcomes::default();
    for seed in 0..SEEDS {
        let before = wire.exchanges().len();
        let outcome = shape
            .ask(&run, response_format, settings.clone().extra("seed", seed))
            .await;
        let exchanges = wire.exchanges();
        let last = exchanges.last().unwrap();
        let requests = exchanges.len() - before;
        let met = match outcome {
            Ok((_, record)) => {
                assert_eq!(
                    record.attempts.last().unwrap().response_format,
                    Some(response_format),
                    "{}",
                    shape.name
                );
                if kept_its_schema(last) == Some(false) {
                    outcomes
                        .faults
                        .push(format!("{}, seed {seed}: {}", shape.name, last.said()));
                }
                if requests == 1 {
                    "decoded".to_owned()
                } else {
                    "corrected".to_owned()
                }
            }
            Err(error) => {
                println!("{}, seed {seed}: {}", shape.name, error.message());
                let reason = last.answer.pointer("/choices/0/finish_reason");
                match error.category() {
                    Category::TruncatedOutput => {
                        assert_eq!(reason, Some(&"length".into()), "{error}")
                    }
                    // Feedback was given as often as it may be, or until the same answer came again.
                    Category::SchemaError | Category::EmptyResponse => {
                        let is_repeated = error.message().contains("the same answer twice");
                        assert!(requests == 3 || is_repeated, "{requests}: {error}");
                    }
                    // The server could not decode what its own model wrote.
                    Category::ServerError => assert_eq!(last.status, 500, "{error}"),
                    _ => outcomes
                        .faults
                        .push(format!("{}, seed {seed}: {error}", shape.name)),
                }
                error.category().to_string()
            }
        };
        outcomes.add(met);
    }
    assert_books_agree(&run.ledger(), &wire);
    outcomes
}

fn settings() -> Settings {
    Settings::new()
        .max_tokens(3000)
        .retries(2)
        .transport_retries(0)
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn every_shape_in_strict_mode_is_decoded_corrected_or_classed() {
    let (mut lines, mut faults, mut total) =
        (Vec::new(), Vec::new(), BTreeMap::<String, u32>::new());
    let mut others = Answered::default();
    for shape in zoo() {
        let response_format = if shape.schema.strict().is_ok() {
            ResponseFormat::Strict
        } else {
            ResponseFormat::Schema
        };
        let outcomes = ask(&shape, response_format, settings()).await;
        lines.push(format!(
            "{:24} {:8} {}",
            shape.name,
            response_format.as_str(),
            outcomes.line()
        ));
        if !NARROWER.contains(&shape.name) {
            others.add(&outcomes);
        }
        outcomes
            .counts
            .into_iter()
            .for_each(|(outcome, count)| *total.entry(outcome).or_default() += count);
        faults.extend(outcomes.faults);
    }
    println!("{}\nin all: {total:?}", lines.join("\n"));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let answered = total["decoded"] + total.get("corrected").copied().unwrap_or_default();
    assert!(answered * 10 > total.values().sum::<u32>() * 8, "{total:?}");
    assert!(
        others.answered * 100 > others.calls * 95,
        "{} of {}",
        others.answered,
        others.calls
    );
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn every_dialect_is_taken() {
    const SOME: [&str; 5] = [
        "flat",
        "nested",
        "enum_internal",
        "root_list",
        "root_integer",
    ];
    let mut faults = Vec::new();
    for response_format in [
        ResponseFormat::Strict,
        ResponseFormat::Schema,
        ResponseFormat::Tool,
        ResponseFormat::JsonObject,
        ResponseFormat::Prompt,
    ] {
        for shape in zoo().into_iter().filter(|shape| SOME.contains(&shape.name)) {
            let outcomes = ask(&shape, response_format, settings().max_tokens(600)).await;
            println!(
                "{:12} {:16} {}",
                response_format.as_str(),
                shape.name,
                outcomes.line()
            );
            // This server takes the other three, and enforces nothing, or any JSON at all: the choice of a function it
            // ignores.
            if matches!(
                response_format,
                ResponseFormat::Strict | ResponseFormat::Schema
            ) {
                assert!(
                    outcomes.counts.contains_key("decoded"),
                    "{response_format} {}",
                    shape.name
                );
            }
            faults.extend(outcomes.faults);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
