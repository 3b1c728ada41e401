// Cause: the error is neither `Send` nor `Sync`.
// Mend: write `llmnode::BoxError`.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

/// Waters a plant.
#[tool]
async fn water(plant: String, garden: &Garden) -> Result<usize, Box<dyn std::error::Error>> {
    let place = garden.plants.iter().position(|one| *one == plant);
    place.ok_or_else(|| "no such plant".into())
}

#[llm_node(prompt = "{what}", state = Garden, tools = [Water])]
struct Tend {
    what: String,
}

fn main() {}
