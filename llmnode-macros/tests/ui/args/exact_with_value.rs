// Cause: `exact` takes no value.
// Mend: write `exact` alone, or drop it.
use llmnode::prelude::*;

#[llm_node(prompt = "How many {things}?", output = u32, exact = true)]
struct Count {
    things: String,
}

fn main() {
    let _ = Run::new(ScriptedModel::new()).call(&Count { things: "stars".into() });
}
