// Cause: a quotation mark in the prompt ends the string literal.
// Mend: write `\"`, or a raw string, `r#"…"#`.
use llmnode::llm_node;

#[llm_node(prompt = "Answer as {{"item": "x"}} about {topic}, {style}")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
