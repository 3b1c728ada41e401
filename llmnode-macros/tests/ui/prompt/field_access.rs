// Cause: the prompt reads a part of a field.
// Mend: add a field that holds that part.
use llmnode::llm_node;

#[llm_node(prompt = "{topic.name} {style}")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
