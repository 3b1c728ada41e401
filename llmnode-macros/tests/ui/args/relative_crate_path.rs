// Cause: the path after `crate` depends on what is in scope where the attribute stands.
// Mend: begin it with `::`, or with `crate::`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic} {style}", crate = llmnode)]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
