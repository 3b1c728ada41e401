// Cause: the variable stands in double braces, as other template languages write it.
// Mend: write single braces.
use llmnode::llm_node;

#[llm_node(prompt = "About {{topic}} in a {style} style")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
