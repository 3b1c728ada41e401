// Cause: times for the cache that no provider has.
// Mend: write `cache = 5m` or `cache = 1h`, or leave it out.
// Errors: 2
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", cache = 10m)]
struct Rate {
    topic: String,
}

#[llm_node(prompt = "{topic}", cache = "1h")]
struct Judge {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
