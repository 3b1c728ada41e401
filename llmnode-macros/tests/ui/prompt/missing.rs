// Cause: the attribute has no prompt.
// Mend: add `prompt = "…"`.
use llmnode::llm_node;

#[llm_node(model = "small")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
