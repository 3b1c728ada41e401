// Cause: the tool returns a reference.
// Mend: return a value.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

/// Finds a plant.
#[tool]
fn find(name: String, garden: &Garden) -> Option<&String> {
    garden.plants.iter().find(|plant| **plant == name)
}

#[llm_node(prompt = "{what}", state = Garden, tools = [Find])]
struct Tend {
    what: String,
}

fn main() {}
