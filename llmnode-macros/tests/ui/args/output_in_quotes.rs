// Cause: the output type stands in quotes, like a text.
// Mend: write the type itself, `output = Summary`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic} {style}", output = "Summary")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
