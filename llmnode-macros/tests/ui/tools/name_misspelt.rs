// Cause: the tool's name is misspelt.
// Mend: write the type that `#[tool]` makes, `Water`.
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

#[llm_node(prompt = "{what}", state = Garden, tools = [Watr])]
struct Tend {
    what: String,
}

fn main() {}
