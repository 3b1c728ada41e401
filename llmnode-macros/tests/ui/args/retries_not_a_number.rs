// Cause: the number of retries stands in quotes.
// Mend: write the number itself, `retries = 2`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic} {style}", output = u8, retries = "2")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
