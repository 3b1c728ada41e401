// Cause: the name of the prompt file is misspelt.
// Mend: write the name of the file.
use llmnode::llm_node;

#[llm_node(prompt_file = "prompts/jsn.md")]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
