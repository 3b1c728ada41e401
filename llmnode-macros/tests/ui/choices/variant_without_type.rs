// Cause: A variant in the path lacks its type.
// Mend: Write the type before it: `Action::Use`.

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

#[llm_node(prompt = "Choose.", output = Plan, state = World, choices(action.Use.item = state.inventory))]
struct Choose;

fn main() {}
