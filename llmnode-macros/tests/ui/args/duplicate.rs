// Cause: the attribute has the same argument twice.
// Mend: keep one of the two.
use llmnode::llm_node;

#[llm_node(prompt = "{topic} {style}", model = "a", model = "b")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
