// Cause: the prompt shows JSON, whose braces open variables.
// Mend: double the braces of the text.
use llmnode::llm_node;

#[llm_node(prompt = "{topic} {style}\nAnswer as {\"a\": {\"b\": 1}}.")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
