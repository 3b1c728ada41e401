// Cause: the number of turns goes by another name.
// Mend: write `turns`.
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

#[llm_node(prompt = "{what}", state = Garden, tools = [Water], max_iterations = 6)]
struct Tend {
    what: String,
}

fn main() {}
