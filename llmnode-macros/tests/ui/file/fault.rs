// Cause: a prompt file has a brace that opens no variable.
// Mend: double the braces that are text.
use llmnode::llm_node;

#[llm_node(system_file = "prompts/json.md", prompt = "About {topic}")]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
