// Cause: providers do not take such a name.
// Mend: write one of the characters that they take.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

/// Waters a plant.
#[tool(name = "water plants")]
async fn water(plant: String, garden: &Garden) -> bool {
    garden.plants.contains(&plant)
}

#[llm_node(prompt = "{what}", state = Garden, tools = [Water])]
struct Tend {
    what: String,
}

fn main() {}
