// Cause: each `retry` of the stack for the transport has a wait of its own.
// Mend: drop `wait`, or the waits of the steps that are to take it.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", wait = 10s, recover(transport = [retry(2, 1s), bubble]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
