// Cause: the function is called, and its future is no node.
// Mend: call the struct: `run.call(&Water { .. })`.
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

async fn waters(run: &Run<Garden>) -> Result<bool, NodeError> {
    run.call(&water("fern".into(), run.state())).await
}

fn main() {}
