// Cause: a value stands in the list.
// Mend: name the type.
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

#[llm_node(prompt = "{what}", state = Garden, tools = [Water { plant: String::new() }])]
struct Tend {
    what: String,
}

fn main() {}
