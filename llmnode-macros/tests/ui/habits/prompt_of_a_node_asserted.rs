// Cause: the prompt is asked of the node, and it is the request that has it.
// Mend: write `assert_prompt(&request_of(&node, &()), "…")`; in place of `&()`, the state.
// Token: &node
use llmnode::prelude::*;
use llmnode::testing::*;

#[llm_node(prompt = "Greet {name}.")]
struct Greet {
    name: String,
}

fn main() {
    let node = Greet { name: "Ada".into() };
    assert_prompt(&node, "--- user\nGreet Ada.");
}
