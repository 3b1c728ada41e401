// Cause: the state is taken by value.
// Mend: borrow it.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

/// Counts the plants.
#[tool]
fn count(garden: Garden) -> usize {
    garden.plants.len()
}

fn main() {}
