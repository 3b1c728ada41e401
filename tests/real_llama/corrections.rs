//! Answers that the server accepts and the type or a validator rejects: the model gets the violations, and answers again.

use llmnode::prelude::*;
use llmnode::{AttemptKind, CallRecord, Settings};

use crate::support::{assert_books_agree, only, run};
use crate::wire::Exchange;

/// A schema that promises more than the type holds, as hand-written ones do.
#[llm_output]
#[derive(Debug)]
struct Count {
    #[schemars(with = "i64")]
    n: i32,
}

#[llm_node(prompt = "How many?", output = Count)]
struct HowMany;

#[llm_output]
#[derive(Debug)]
struct Length {
    metres: f64,
}

#[llm_node(prompt = "How long?", output = Length)]
struct HowLong;

/// Each request after the first is the one before it, the answer to that, and what was wrong with it.
fn assert_told(exchanges: &[Exchange], complaint: &str) {
    for pair in exchanges.windows(2) {
        let (before, after) = (pair[0].messages(), pair[1].messages());
        assert_eq!(after[..before.len()], *before);
        let [answer, feedback] = &after[before.len()..] else {
            panic!("{after:?}")
        };
        assert_eq!(
            (&answer["role"], &feedback["role"]),
            (&"assistant".into(), &"user".into())
        );
        assert_eq!(answer["content"], pair[0].text());
        assert!(
            feedback["content"].as_str().unwrap().contains(complaint),
            "{feedback}"
        );
    }
}

fn kinds(attempts: &[llmnode::AttemptRecord]) -> Vec<(AttemptKind, Option<Category>)> {
    attempts
        .iter()
        .map(|attempt| (attempt.kind, attempt.category))
        .collect()
}

const EXHAUSTED: [(AttemptKind, Option<Category>); 3] = [
    (AttemptKind::First, Some(Category::SchemaError)),
    (AttemptKind::Correction, Some(Category::SchemaError)),
    (AttemptKind::Correction, Some(Category::SchemaError)),
];

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn an_integer_too_large_for_its_field_is_told_until_the_budget_ends() {
    let (run, wire) = run().await;
    let again = Settings::new().stop_on_repeat(false).retries(2);
    let error = run
        .call(&HowMany)
        .settings(again)
        .extra("logit_bias", only("123456789"))
        .await
        .unwrap_err();
    println!("{error}");
    assert_eq!(error.category(), Category::SchemaError, "{error}");
    assert_eq!(kinds(error.attempts()), EXHAUSTED);
    assert!(error.message().starts_with("n: "), "{error}");
    assert!(
        error
            .attempts()
            .iter()
            .all(|attempt| attempt.usage.unwrap().total().is_some())
    );
    let exchanges = wire.exchanges();
    assert_told(&exchanges, "- n: ");
    assert_eq!(error.last_answer(), Some(exchanges[2].text()));
    assert_books_agree(&run.ledger(), &wire);
}

/// `6e1289928696649258` is a number to JSON and to the server.
#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn a_number_beyond_f64_is_told() {
    let (run, wire) = run().await;
    let again = Settings::new().stop_on_repeat(false).retries(2);
    let error = run
        .call(&HowLong)
        .settings(again)
        .extra("logit_bias", only("123456789e"))
        .await
        .unwrap_err();
    println!("{error}");
    assert_eq!(kinds(error.attempts()), EXHAUSTED, "{error}");
    assert_told(&wire.exchanges(), "which is too large; must be within");
    assert_books_agree(&run.ledger(), &wire);
}

/// Without a bias, about one answer in fifteen is too large, and the next one often fits.
#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn an_integer_too_large_for_its_field_is_corrected() {
    let (run, wire) = run().await;
    let mut corrected: Option<(u64, i32, std::sync::Arc<CallRecord>)> = None;
    for seed in 0..300 {
        let Ok(report) = run
            .call(&HowMany)
            .extra("seed", seed)
            .retries(2)
            .report()
            .await
        else {
            continue;
        };
        if report.record.attempts.len() > 1 {
            corrected = Some((seed, report.value.n, report.record));
            break;
        }
    }
    let (seed, n, record) = corrected.expect("one of 300 answers is too large");
    println!("seed {seed}: {n} after {} attempts", record.attempts.len());
    let (last, before) = record.attempts.split_last().unwrap();
    assert_eq!((last.kind, last.category), (AttemptKind::Correction, None));
    assert!(
        before
            .iter()
            .all(|attempt| attempt.category == Some(Category::SchemaError))
    );
    let exchanges = wire.exchanges();
    let of_call = &exchanges[exchanges.len() - record.attempts.len()..];
    assert_told(of_call, "- n: ");
    let accepted: serde_json::Value = serde_json::from_str(of_call.last().unwrap().text()).unwrap();
    assert_eq!(accepted["n"], n);
    assert_books_agree(&run.ledger(), &wire);
}

#[llm_output]
#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    Heads,
    Tails,
}

#[llm_output]
struct Toss {
    side: Side,
}

#[validate(state)]
impl Toss {
    async fn is_as_called(&self, called: &Side) -> Result<(), Invalid> {
        tokio::task::yield_now().await;
        if self.side == *called {
            return Ok(());
        }
        Err(Invalid::at("side", "is not what was called").allowed([format!("{called:?}")]))
    }
}

#[llm_node(prompt = "Toss.", output = Toss, state = Side, retries = 30)]
struct TossCoin;

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn a_validator_is_heard_until_the_answer_fits_the_state() {
    let (run, wire) = run().await;
    let mut corrections = 0;
    for called in [Side::Heads, Side::Tails].repeat(10) {
        let run = run.with_state(called);
        // Without a seed: with one, the model's luck is the same at every attempt.
        // A coin may fall on the same side again.
        let again = Settings::new().stop_on_repeat(false);
        let report = run.call(&TossCoin).settings(again).report().await.unwrap();
        assert_eq!(report.value.side, called);
        let (last, before) = report.record.attempts.split_last().unwrap();
        assert_eq!(last.category, None);
        assert!(
            before
                .iter()
                .all(|attempt| attempt.category == Some(Category::ValidationError))
        );
        corrections += before.len();
    }
    println!("20 tosses, {corrections} corrections");
    assert!(corrections > 0);
    assert_books_agree(&run.ledger(), &wire);
}
