// Cause: a brace is opened and not closed.
// Mend: close it, or write `{{` for a brace of the text.
use llmnode::llm_node;

#[llm_node(prompt = "About {topic in a {style} style")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
