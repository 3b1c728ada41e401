// Cause: what a model writes cannot be borrowed.
// Mend: own the fields.
#![allow(unused)]

use llmnode::prelude::*;

/// Tends a garden.
#[llm_node(tool, prompt = "{what}")]
struct Tend<'a> {
    what: &'a str,
}

#[llm_node(prompt = "{goal}", tools = [Tend])]
struct Plan {
    goal: String,
}

fn main() {}
