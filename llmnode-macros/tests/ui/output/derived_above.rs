// Cause: `#[llm_output]` stands below a derive; it cannot see what is derived above it, and derives it again.
// Mend: move `#[llm_output]` above the derives.
use llmnode::{llm_node, llm_output};

struct World;

#[derive(serde::Deserialize)]
#[llm_output]
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
