// Cause: the tool takes a state, and the node names none.
// Mend: add `state = Garden`.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

/// Waters a plant.
#[tool]
async fn water(plant: String, garden: &Garden) -> bool {
    garden.plants.contains(&plant)
}

#[llm_node(prompt = "{what}", tools = [Water])]
struct Tend {
    what: String,
}

fn main() {}
