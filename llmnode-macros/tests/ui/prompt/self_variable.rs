// Cause: the prompt inserts the whole node.
// Mend: name the fields that the model needs.
use llmnode::llm_node;

#[llm_node(prompt = "{self} {topic} {style}")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
