// Cause: the fields of a node type cannot be read from JSON.
// Mend: put `#[llm_output]` on it.
#![allow(unused)]

use llmnode::graph::Registry;
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {text}")]
struct Summarize {
    text: String,
}

fn registry() -> Registry {
    Registry::new().node::<Summarize>()
}

fn main() {}
