// Cause: the attribute has settings that belong to a call, a run or the model's client.
// Mend: set each where its message says.
// Errors: 6
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", max_retries = 3, backoff = 1s..60s, extra = 1, stop_on_repeat = true, timeout = 10s, requests = 5)]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
