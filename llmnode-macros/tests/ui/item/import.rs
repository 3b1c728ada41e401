// Cause: `#[llm_node]` stands on a `use` declaration.
// Mend: put it on the struct whose fields the prompt uses.
use llmnode::llm_node;

#[llm_node(prompt = "Choose")]
use std::string::String as Choose;

fn main() {
    let _ = Choose::new();
}
