// Cause: the tool takes another state than the node.
// Mend: use one state for both.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

struct House;

/// Waters a plant.
#[tool]
async fn water(plant: String, garden: &Garden) -> bool {
    garden.plants.contains(&plant)
}

#[llm_node(prompt = "{what}", state = House, tools = [Water])]
struct Tend {
    what: String,
}

fn main() {}
