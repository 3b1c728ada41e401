// Cause: several variables are no fields of the node, and each is reported.
// Mend: write names of fields, or add the fields.
// Errors: 3
use llmnode::llm_node;

#[llm_node(prompt = "{topik} {style:>8} {audience:.3} {stile:?}")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
