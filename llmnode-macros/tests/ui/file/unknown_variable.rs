// Cause: a prompt file names a variable that is no field of the node.
// Mend: write the name of a field in the file, or add the field.
use llmnode::llm_node;

#[llm_node(prompt_file = "unknown.md")]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
