// Cause: the prompt names a variable that is no field of the node.
// Mend: add the field, or drop the variable.
use llmnode::llm_node;

#[llm_node(prompt = "{topic} {style} for {audience}")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
