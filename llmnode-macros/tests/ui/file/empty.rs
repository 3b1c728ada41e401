// Cause: the prompt file has no text.
// Mend: write the prompt into it.
use llmnode::llm_node;

#[llm_node(prompt_file = "prompts/empty.md")]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
