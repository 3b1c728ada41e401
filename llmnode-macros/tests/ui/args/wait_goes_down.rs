// Cause: the range of waits begins with the longer one.
// Mend: write the shorter time first.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", wait = 60s..1s)]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
