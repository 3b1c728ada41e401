// Cause: a number of tokens that no window has.
// Mend: write a share, or more tokens.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", compact(at = 8))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
