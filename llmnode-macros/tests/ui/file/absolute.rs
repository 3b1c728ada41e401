// Cause: the path of the prompt file is absolute, and so another one on each machine.
// Mend: write it relative to the source file.
use llmnode::llm_node;

#[llm_node(prompt_file = "/prompts/summarize.md")]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
