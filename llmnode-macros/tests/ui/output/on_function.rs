// Cause: `#[llm_output]` stands on a function.
// Mend: put it on the struct or enum that the node names as `output`.
use llmnode::llm_output;

#[llm_output]
fn choose() {}

fn main() {
    choose();
}
