//! Types with validators, each requested with five seeds: the answers conform to the schema that was sent, and the values
//! that were read equal the answers.

use std::collections::BTreeSet;
use std::time::Instant;

use llmnode::Exec;
use llmnode::prelude::*;
use serde::Serialize;
use serde_json::Value;

use crate::conforms::conforms;
use crate::support::{assert_books_agree, run};
use crate::types::*;
use crate::wire::Exchange;

const SEEDS: u64 = 5;

/// Asks for a type with every seed, one after the other; a line of the table, and what was wrong.
async fn ask<N>(shape: &str, node: fn(u64) -> N) -> (String, Vec<String>)
where
    N: Exec<(), Output: Serialize>,
{
    let ((run, wire), begun) = (run().await, Instant::now());
    let mut faults = Vec::new();
    for seed in 0..SEEDS {
        let outcome = run.call(&node(seed)).extra("seed", seed).await;
        let exchange = wire.exchanges().pop().unwrap();
        let judged = match outcome {
            Ok(value) => judge(&exchange, &serde_json::to_value(value).unwrap()),
            Err(error) => Err(error.to_string()),
        };
        faults.extend(
            judged
                .err()
                .map(|fault| format!("{shape}, seed {seed}: {fault} in {}", exchange.text())),
        );
    }
    assert_books_agree(&run.ledger(), &wire);
    let usage = run.ledger().total();
    let strict = wire.exchanges()[0]
        .question
        .pointer("/response_format/json_schema/strict")
        == Some(&true.into());
    let line = format!(
        "{shape:18} {} {} of {SEEDS} valid, {} requests, {:5} + {:5} tokens, {:5} ms",
        if strict { "strict" } else { "plain " },
        SEEDS - faults.len() as u64,
        usage.requests,
        usage.input.total().unwrap(),
        usage.output.total().unwrap(),
        begun.elapsed().as_millis(),
    );
    (line, faults)
}

/// The answer on the wire conforms to the schema on the wire, and the value that was read says the same.
fn judge(exchange: &Exchange, value: &Value) -> Result<(), String> {
    let schema = &exchange.question["response_format"]["json_schema"]["schema"];
    let answer: Value = serde_json::from_str(exchange.text()).map_err(|error| error.to_string())?;
    conforms(&answer, schema)?;
    let says_the_same = same(&answer, value)
        || answer
            .get("value")
            .is_some_and(|answer| same(answer, value));
    if says_the_same {
        Ok(())
    } else {
        Err(format!("was read as {value}"))
    }
}

/// Whether two values are the same; `null` in an answer may mean a default.
fn same(answer: &Value, value: &Value) -> bool {
    match (answer, value) {
        (Value::Null, _) => true,
        (Value::Array(answer), Value::Array(value)) => {
            answer.len() == value.len()
                && answer
                    .iter()
                    .zip(value)
                    .all(|(answer, value)| same(answer, value))
        }
        (Value::Object(answer), Value::Object(value)) => {
            let known = |(name, answer): (&String, &Value)| {
                value.get(name).is_some_and(|value| same(answer, value))
            };
            answer.len() == value.len() && answer.iter().all(known)
        }
        _ => answer == value,
    }
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn typed_answers_are_valid() {
    let (mut lines, mut faults) = (Vec::new(), Vec::new());
    macro_rules! ask {
        ($($shape:literal $node:ident),+ $(,)?) => {
            $(
                let (line, found) = ask($shape, |number| $node { number }).await;
                lines.push(line);
                faults.extend(found);
            )+
        };
    }
    ask!("ranges" AskRanges, "renamed" AskRenamed, "own derives" AskOwn,
    );
    println!("{}", lines.join("\n"));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// More nodes at once than the server has slots: each answer comes back in its node's place.
#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn many_at_once_come_back_in_order() {
    const NODES: u64 = 48;
    let (run, wire) = run().await;
    let nodes = (0..NODES).map(|number| AskRenamed { number });
    let settings = Settings::new().extra("seed", 7);
    let answers = run.map(nodes).concurrency(12).settings(settings).await;
    let exchanges = wire.exchanges();
    for (number, answer) in answers.iter().enumerate() {
        let prompt = format!("Fill in form {number}.");
        let own = exchanges
            .iter()
            .find(|one| one.messages()[0]["content"] == prompt)
            .unwrap();
        judge(
            own,
            &serde_json::to_value(answer.as_ref().unwrap()).unwrap(),
        )
        .unwrap();
    }
    let distinct: BTreeSet<_> = exchanges.iter().map(Exchange::text).collect();
    assert!(distinct.len() > 1, "answers could not be told apart");
    assert_eq!(run.ledger().of::<AskRenamed>().unwrap().visits, NODES);
    assert_books_agree(&run.ledger(), &wire);
}
