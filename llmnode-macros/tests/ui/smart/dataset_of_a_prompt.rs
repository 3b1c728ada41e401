// Cause: rows are read for a node that has a prompt.
// Mend: give it a `goal`, or read the rows by `Dataset::open_with`.
#![allow(unused)]

use llmnode::prelude::*;
use llmnode::smart::evaluate::{DataError, Dataset};

#[llm_node(prompt = "Judge: {claim}", output = bool)]
struct Judge {
    claim: String,
}

fn data() -> Result<Dataset<Judge, bool>, DataError> {
    Dataset::<Judge, bool>::open("claims.jsonl")
}

fn main() {}
