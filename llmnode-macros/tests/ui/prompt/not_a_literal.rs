// Cause: the prompt is a constant, whose text a macro cannot read.
// Mend: write the text into the attribute.
use llmnode::llm_node;

const PROMPT: &str = "{topic}";

#[llm_node(prompt = PROMPT)]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let _ = PROMPT;
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
