// Cause: an argument is a reference to a `Vec`.
// Mend: write a slice.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

/// Waters plants.
#[tool]
async fn water(plants: &Vec<String>, garden: &Garden) -> bool {
    plants == &garden.plants
}

#[llm_node(prompt = "{what}", state = Garden, tools = [Water])]
struct Tend {
    what: String,
}

fn main() {}
