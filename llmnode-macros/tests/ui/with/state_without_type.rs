// Cause: an expression of `with` reads the state of a node that has none.
// Mend: name the type of the state.
use llmnode::llm_node;

#[llm_node(prompt = "{count} things, {first} first", with(count = state.inventory.len(), first = state.inventory[0]))]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
