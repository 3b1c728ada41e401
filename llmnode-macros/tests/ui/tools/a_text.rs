// Cause: the tool's name is written as a text.
// Mend: name its type.
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

#[llm_node(prompt = "{what}", state = Garden, tools = ["water"])]
struct Tend {
    what: String,
}

fn main() {}
