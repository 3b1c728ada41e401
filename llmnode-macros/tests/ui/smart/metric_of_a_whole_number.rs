// Cause: a metric returns a whole number.
// Mend: return a `bool` or an `f64`.
#![allow(unused)]

use llmnode::prelude::*;
use llmnode::evals::{Dataset, evaluate};

#[llm_node(goal = "Judge the claim.", output = bool)]
struct Judge {
    claim: String,
}

async fn score(run: &Run, data: &Dataset<Judge, bool>) -> Result<f64, NodeError> {
    let same = |_: &Judge, expected: &bool, output: &bool| i32::from(expected == output);
    Ok(evaluate(run, data, same).await?.mean())
}

fn main() {}
