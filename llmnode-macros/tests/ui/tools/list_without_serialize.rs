// Cause: the elements of what the tool returns have no `Serialize`.
// Mend: put `#[llm_output]` on them.
#![allow(unused)]

use llmnode::prelude::*;

struct Flower;

/// Picks flowers.
#[tool]
async fn pick() -> Result<Vec<Flower>, String> {
    Ok(vec![Flower])
}

#[llm_node(prompt = "{what}", tools = [Pick])]
struct Tend {
    what: String,
}

fn main() {}
