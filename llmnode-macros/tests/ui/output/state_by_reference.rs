// Cause: the state's type is written as a reference.
// Mend: write the type alone, `state = World`.
use llmnode::{llm_node, llm_output};

struct World;

#[llm_output(state = &World)]
struct Choice {
    item: String,
}

#[llm_node(prompt = "Choose.", output = Choice, state = World)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World);
    let _ = run.call(&Choose);
}
