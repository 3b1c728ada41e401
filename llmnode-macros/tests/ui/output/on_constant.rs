// Cause: `#[llm_output]` stands on a constant.
// Mend: put it on the struct or enum that the node names as `output`.
use llmnode::llm_output;

#[llm_output]
const CHOOSE: &str = "Choose";

fn main() {
    let _ = CHOOSE;
}
