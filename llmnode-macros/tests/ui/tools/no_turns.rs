// Cause: no response at all is allowed.
// Mend: write 1 or more.
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

#[llm_node(prompt = "{what}", state = Garden, tools = [Water], turns = 0)]
struct Tend {
    what: String,
}

fn main() {}
