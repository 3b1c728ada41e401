// Cause: `limits` is written with an equals sign.
// Mend: write `limits(requests = 5)`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", limits = (requests = 5))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
