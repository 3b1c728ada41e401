// Cause: providers do not take the name of the node.
// Mend: write one of the characters that they take.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

/// Weeds.
#[llm_node(tool, prompt = "Weed bed {bed}.", name = "weed beds")]
struct Weed {
    bed: u8,
}

#[llm_node(prompt = "{what}", state = Garden, tools = [Weed])]
struct Tend {
    what: String,
}

fn main() {}
