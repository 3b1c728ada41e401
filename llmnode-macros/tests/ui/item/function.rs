// Cause: `#[llm_node]` stands on a function.
// Mend: write a struct with a field for each parameter.
use llmnode::llm_node;

#[llm_node(prompt = "Choose")]
fn choose() {}

fn main() {
    choose();
}
