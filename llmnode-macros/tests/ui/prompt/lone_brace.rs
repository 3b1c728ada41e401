// Cause: a brace closes what was never opened.
// Mend: write `{` before the variable, or `}}` for a brace of the text.
use llmnode::llm_node;

#[llm_node(prompt = "About topic} in a {style} style {topic}")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
