// Cause: `with` declares a variable by a name that prompts use for something else.
// Mend: give it another name.
// Errors: 2
use llmnode::llm_node;

struct World {
    inventory: Vec<String>,
}

#[llm_node(
    prompt = "Choose one.",
    with(state = state.inventory.len(), self = 1),
    state = World,
)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World { inventory: vec![] });
    let _ = (run.call(&Choose), &run.state().inventory);
}
