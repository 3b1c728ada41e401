// Cause: the answer's type can neither be read from JSON nor described to the model.
// Mend: put `#[llm_output]` above the struct.
use llmnode::llm_node;

struct World;

struct Choice {
    item: String,
}

#[llm_node(prompt = "Choose.", output = Choice, state = World, retries = 2)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World);
    let _ = Choice { item: String::new() }.item;
    let _ = run.call(&Choose);
}
