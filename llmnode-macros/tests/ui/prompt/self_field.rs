// Cause: the field is named through `self`.
// Mend: write the field's name alone.
use llmnode::llm_node;

#[llm_node(prompt = "{self.topic} {style}")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
