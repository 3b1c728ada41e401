// Cause: an argument has the name that it has elsewhere.
// Mend: write the name that the message tells.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

/// Waters a plant.
#[tool(backoff = 1s)]
async fn water(plant: String, garden: &Garden) -> bool {
    garden.plants.contains(&plant)
}

#[llm_node(prompt = "{what}", state = Garden, tools = [Water])]
struct Tend {
    what: String,
}

fn main() {}
