// Cause: the attribute has an argument that `llm_node` does not know.
// Mend: choose one of the listed arguments, or drop it.
use llmnode::llm_node;

#[llm_node(prompt = "{topic} {style}", colour = "red")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
