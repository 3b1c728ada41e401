// Cause: the prompt is an `include_str!`, whose text no macro can see.
// Mend: name the file by `prompt_file`.
use llmnode::llm_node;

#[llm_node(prompt = include_str!("prompts/json.md"))]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
