// Cause: `#[llm_node]` stands on a static.
// Mend: put it on the struct whose fields the prompt uses.
use llmnode::llm_node;

#[llm_node(prompt = "Choose")]
static CHOOSE: &str = "Choose";

fn main() {
    let _ = CHOOSE;
}
