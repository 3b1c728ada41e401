// Cause: a prompt is written here and in a file.
// Mend: drop one of them.
use llmnode::llm_node;

#[llm_node(prompt = "About {topic}", prompt_file = "prompts/empty.md")]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
