// Cause: rows of a file are read into a node without `Deserialize`.
// Mend: derive it, or read the rows by `Dataset::open_with`.
#![allow(unused)]

use llmnode::prelude::*;
use llmnode::evals::{DataError, Dataset};

#[llm_node(prompt = "Judge: {claim}", output = bool)]
struct Judge {
    claim: String,
}

fn data() -> Result<Dataset<Judge, bool>, DataError> {
    Dataset::<Judge, bool>::open("claims.jsonl")
}

fn main() {}
