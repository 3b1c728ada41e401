// Cause: the name of an argument is misspelt.
// Mend: write the name that the message proposes.
use llmnode::{llm_node, llm_output};

struct World;

#[llm_output(stat = World)]
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
