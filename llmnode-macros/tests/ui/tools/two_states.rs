// Cause: a tool takes one state.
// Mend: take by value what the model writes.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

struct Weather;

/// Plants.
#[tool]
fn plant(garden: &Garden, weather: &Weather) -> usize {
    let _ = weather;
    garden.plants.len()
}

fn main() {}
