// Cause: the prompt holds nothing but white space.
// Mend: write the text of the user message.
use llmnode::llm_node;

#[llm_node(prompt = "  ")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
