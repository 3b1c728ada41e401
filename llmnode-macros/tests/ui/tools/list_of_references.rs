// Cause: an argument holds references, with a lifetime for them.
// Mend: let it own the texts, and drop the lifetime.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

/// Waters plants.
#[tool]
async fn water<'a>(plants: Vec<&'a str>, garden: &Garden) -> bool {
    plants.len() == garden.plants.len()
}

#[llm_node(prompt = "{what}", state = Garden, tools = [Water])]
struct Tend {
    what: String,
}

fn main() {}
