// Cause: the prompt file is in another encoding than UTF-8.
// Mend: save it as UTF-8.
use llmnode::llm_node;

#[llm_node(prompt_file = "prompts/latin1.md")]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
