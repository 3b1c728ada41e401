// Cause: the field is marked as unused, and the prompt uses it.
// Mend: drop the mark, or the variable.
use llmnode::llm_node;

#[llm_node(prompt = "{topic} {style}")]
struct Summarize {
    topic: String,
    #[node(skip)]
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
