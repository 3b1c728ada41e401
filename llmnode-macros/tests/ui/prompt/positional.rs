// Cause: the variables have no names.
// Mend: write the name of a field in each pair of braces.
// Errors: 2
use llmnode::llm_node;

#[llm_node(prompt = "{} and {0}, {topic} {style}")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
