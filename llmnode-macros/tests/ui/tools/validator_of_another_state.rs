// Cause: the arguments' validator takes another state than the tool.
// Mend: take the same one.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

struct House;

/// Waters a plant.
#[tool]
async fn water(plant: String, garden: &Garden) -> bool {
    garden.plants.contains(&plant)
}

#[validate(state)]
impl Water {
    fn known(&self, house: &House) -> Result<(), Invalid> {
        let _ = house;
        Ok(())
    }
}

fn main() {}
