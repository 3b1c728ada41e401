// Cause: the description is an argument.
// Mend: make it the doc comment.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

#[tool(description = "Waters a plant.")]
async fn water(plant: String, garden: &Garden) -> bool {
    garden.plants.contains(&plant)
}

#[llm_node(prompt = "{what}", state = Garden, tools = [Water])]
struct Tend {
    what: String,
}

fn main() {}
