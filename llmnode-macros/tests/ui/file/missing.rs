// Cause: the prompt file does not exist.
// Mend: write its path relative to the source file.
use llmnode::llm_node;

#[llm_node(prompt_file = "../summarize.md")]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
