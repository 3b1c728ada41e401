// Cause: `retries` counts further calls, and a count is not negative.
// Mend: write 0 or more, or leave `retries` out for none.
use llmnode::llm_node;

#[llm_node(prompt = "{topic} {style}", output = u8, retries = -1)]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
