// Cause: `#[llm_node]` stands on a type alias.
// Mend: put it on the struct whose fields the prompt uses.
use llmnode::llm_node;

#[llm_node(prompt = "Choose")]
type Choose = String;

fn main() {
    let _ = Choose::new();
}
