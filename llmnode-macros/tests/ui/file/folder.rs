// Cause: the path of the prompt file is that of a folder.
// Mend: name a file in it.
use llmnode::llm_node;

#[llm_node(prompt_file = "prompts")]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
