// Cause: The list stands without a path.
// Mend: Write the path and `=` before it.

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

#[llm_node(prompt = "Choose.", output = Plan, state = World, choices(= state.inventory))]
struct Choose;

fn main() {}
