// Cause: the categories are written like Rust's enum variants.
// Mend: write them in snake case, as errors show them.
// Errors: 2
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, recover(RateLimitError = [retry(2)], RateLimit = [retry(2)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
