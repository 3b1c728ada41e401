// Cause: the prompt stands in the attribute without its name.
// Mend: write `prompt = "…"`.
use llmnode::llm_node;

#[llm_node("{topic} {style}")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
