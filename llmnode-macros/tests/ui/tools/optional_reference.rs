// Cause: an argument holds a reference.
// Mend: let it own the text.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

/// Waters a plant, or all.
#[tool]
async fn water(plant: Option<&str>, garden: &Garden) -> bool {
    plant.is_none_or(|plant| garden.plants.iter().any(|one| one == plant))
}

#[llm_node(prompt = "{what}", state = Garden, tools = [Water])]
struct Tend {
    what: String,
}

fn main() {}
