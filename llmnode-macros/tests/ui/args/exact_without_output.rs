// Cause: `exact` says how JSON is read, and the answer of a node without `output` is raw text.
// Mend: add `output = u32`, or drop `exact`.
use llmnode::prelude::*;

#[llm_node(prompt = "How many {things}?", exact)]
struct Count {
    things: String,
}

fn main() {
    let _ = Run::new(ScriptedModel::new()).call(&Count { things: "stars".into() });
}
