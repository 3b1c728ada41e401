// Cause: a closure stands where the path of `batch` goes.
// Mend: make it a function, and write its path.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, batch = |_| vec![Greet])]
struct Greet;

#[derive(Default)]
struct World {
    summary: Option<String>,
}

fn main() {}
