// Cause: the name of a filter is misspelt.
// Mend: write the name that the message proposes.
use llmnode::llm_node;

#[llm_node(prompt = "{topic:lst} {style}")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
