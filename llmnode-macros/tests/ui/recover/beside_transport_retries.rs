// Cause: two places say how often a request is repeated.
// Mend: keep the number in `retry(…)` and drop `transport_retries`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", transport_retries = 2, recover(transport = [retry(2, 10s)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
