// Cause: the context is taken by value, without its lifetime.
// Mend: borrow it.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

/// Waters all.
#[tool]
async fn water(cx: llmnode::Cx<Garden>) -> usize {
    cx.state().plants.len()
}

#[llm_node(prompt = "{what}", state = Garden, tools = [Water])]
struct Tend {
    what: String,
}

fn main() {}
