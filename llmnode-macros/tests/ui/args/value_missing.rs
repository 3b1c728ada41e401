// Cause: the argument has a name and no value.
// Mend: write `model = "…"`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", model)]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
