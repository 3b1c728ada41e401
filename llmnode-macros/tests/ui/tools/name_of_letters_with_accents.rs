// Cause: providers do not take the name of the function.
// Mend: give the tool a name.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

/// Waters a plant.
#[tool]
async fn arroser_les_rosés(plant: String, garden: &Garden) -> bool {
    garden.plants.contains(&plant)
}

fn main() {}
