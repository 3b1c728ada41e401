// Cause: a tool would change the state, which other tools read.
// Mend: take `&Garden`, and put what changes behind a lock.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

/// Plants.
#[tool]
fn plant(name: String, garden: &mut Garden) {
    garden.plants.push(name);
}

fn main() {}
