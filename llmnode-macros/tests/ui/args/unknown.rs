// Cause: the name of an argument is misspelt.
// Mend: write the name that the message proposes.
use llmnode::llm_node;

#[llm_node(prompt = "{topic} {style}", retrys = 2)]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
