// Cause: `#[tool]` stands on a struct, which is listed.
// Mend: on a node, write the word `tool` in `#[llm_node(..)]`.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

/// Weeds.
#[tool]
struct Weed {
    bed: u8,
}

#[llm_node(prompt = "{what}", state = Garden, tools = [Weed])]
struct Tend {
    what: String,
}

fn main() {}
