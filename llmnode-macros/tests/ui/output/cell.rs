// Cause: a field of an answer is a `RefCell`, which threads cannot share.
// Mend: write `String`.
// Token: Answer
use std::cell::RefCell;

use llmnode::prelude::*;

#[llm_output]
struct Answer {
    title: RefCell<String>,
}

#[llm_node(prompt = "{question}", output = Answer)]
struct Ask {
    question: String,
}

fn main() {}
