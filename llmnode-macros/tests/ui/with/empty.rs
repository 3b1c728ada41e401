// Cause: `with` declares nothing.
// Mend: drop it, or declare a variable.
use llmnode::llm_node;

#[llm_node(prompt = "About {topic}", with())]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
