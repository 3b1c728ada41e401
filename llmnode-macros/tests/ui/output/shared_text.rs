// Cause: a field of an answer is an `Arc`, which serde reads with a feature that is off.
// Mend: write `String`.
// Token: Arc<str>
use std::sync::Arc;

use llmnode::prelude::*;

#[llm_output]
struct Choice {
    items: Vec<Arc<str>>,
}

#[llm_node(prompt = "Goal: {goal}", output = Choice)]
struct Choose {
    goal: String,
}

fn main() {}
