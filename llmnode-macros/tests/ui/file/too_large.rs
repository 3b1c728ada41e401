// Cause: the prompt file has more than 1 MiB.
// Mend: keep the instructions in it, and give the data by a field.
use llmnode::llm_node;

#[llm_node(prompt_file = "prompts/large.md")]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
