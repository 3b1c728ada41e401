//! names: llm_output, schemars, range, Run, extract, retries, NodeError, category, with_prices, Prices, catalog, ledger, total, cost, known

use futures::future::join_all;
use llmnode::prelude::*;
use serde_json::{Value, json};

use crate::model;

/// An invoice.
#[llm_output]
struct Invoice {
    number: String,
    #[schemars(range(min = 0.0))]
    total: f64,
}

async fn read(run: &Run, letter: &str) -> Result<Invoice, NodeError> {
    run.extract(letter).retries(2).await
}

pub async fn run(url: &str, letters: Vec<String>) -> Value {
    let run = Run::new(model(url)).with_prices(Prices::catalog());
    let invoices = join_all(letters.iter().map(|letter| read(&run, letter))).await;
    let outcomes: Vec<String> = invoices.into_iter().map(outcome).collect();
    let total = run.ledger().total();
    json!({"outcomes": outcomes, "tokens": total.total.known, "money": total.cost.known()})
}

fn outcome(invoice: Result<Invoice, NodeError>) -> String {
    match invoice {
        Ok(Invoice { number, total }) => format!("{number} {total}"),
        Err(error) => error.category().to_string(),
    }
}
