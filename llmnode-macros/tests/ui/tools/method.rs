// Cause: a tool is no method.
// Mend: write a function, which takes the state.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

impl Garden {
    /// Waters all.
    #[tool]
    fn water(&self) -> usize {
        self.plants.len()
    }
}

fn main() {}
