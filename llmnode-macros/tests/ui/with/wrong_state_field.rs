// Cause: an expression of `with` names a field that the state does not have.
// Mend: write the name of a field of the state.
use llmnode::llm_node;

struct World {
    inventory: Vec<String>,
}

#[llm_node(
    prompt = "You have {count} things:\n{things:list}",
    with(count = state.inventory.len(), things = state.inventori),
    state = World,
)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World { inventory: vec![] });
    let _ = (run.call(&Choose), &run.state().inventory);
}
