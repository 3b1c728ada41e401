// Cause: `#[llm_node]` stands on a constant.
// Mend: put it on the struct whose fields the prompt uses.
use llmnode::llm_node;

#[llm_node(prompt = "Choose")]
const CHOOSE: &str = "Choose";

fn main() {
    let _ = CHOOSE;
}
