// Cause: `#[validate]` and `#[llm_output]` stand on one definition.
// Mend: drop `#[validate]`, and give its `state` to `#[llm_output]`.
use llmnode::{llm_node, llm_output};

#[llm_output]
#[derive(Clone)]
#[llmnode::validate]
struct Choice {
    item: String,
}

#[llm_node(prompt = "Choose", output = Choice)]
struct Choose {}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = (run.call(&Choose {}), Choice { item: String::new() }.clone());
}
