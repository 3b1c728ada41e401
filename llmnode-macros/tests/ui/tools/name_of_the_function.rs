// Cause: the function is listed, not the type that `#[tool]` makes of it.
// Mend: write the type, in CamelCase.
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

#[llm_node(prompt = "{what}", state = Garden, tools = [water])]
struct Tend {
    what: String,
}

fn main() {}
