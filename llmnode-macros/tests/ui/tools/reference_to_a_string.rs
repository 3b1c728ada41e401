// Cause: an argument is a reference to a `String`.
// Mend: write `&str`.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

/// Waters a plant.
#[tool]
async fn water(plant: &String, garden: &Garden) -> bool {
    garden.plants.contains(plant)
}

#[llm_node(prompt = "{what}", state = Garden, tools = [Water])]
struct Tend {
    what: String,
}

fn main() {}
