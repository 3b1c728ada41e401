// Cause: `#[tool]` stands on a node.
// Mend: write the word `tool` in `#[llm_node(..)]`.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

/// Weeds.
#[llm_node(tool, prompt = "Weed bed {bed}.")]
#[tool]
struct Weed {
    bed: u8,
}

#[llm_node(prompt = "{what}", state = Garden, tools = [Weed])]
struct Tend {
    what: String,
}

fn main() {}
