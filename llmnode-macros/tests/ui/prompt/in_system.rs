// Cause: the system message names a variable that is no field.
// Mend: write the name of a field, or add the field.
use llmnode::llm_node;

#[llm_node(system = "You are {stile}.", prompt = "{topic} {style}")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
