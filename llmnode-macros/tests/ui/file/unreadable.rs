// Cause: the path of the prompt file has a character that no file name has.
// Mend: write the name of a file.
use llmnode::llm_node;

#[llm_node(prompt_file = "summarize\0.md")]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
