// Cause: The list leaves the attribute by `?`.
// Mend: Compute it before, and store it in a field.

use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
    prices: std::collections::BTreeMap<String, u32>,
    tools: Vec<Tool>,
}

struct Tool {
    name: String,
}

#[llm_output]
struct Plan {
    steps: Vec<Step>,
    first: Option<Step>,
    action: Action,
    note: String,
    weight: f64,
}

#[llm_output]
struct Step {
    tool: String,
}

#[llm_output]
enum Action {
    Use { item: String },
    Wait,
}

#[llm_node(prompt = "Choose.", output = Plan, state = World, choices(note = state.inventory.get(0..2)?))]
struct Choose;

fn main() {}
