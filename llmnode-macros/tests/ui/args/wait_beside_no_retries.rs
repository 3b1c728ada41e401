// Cause: there is a wait between tries, and there are no further tries.
// Mend: drop `wait`, or let there be tries.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", transport_retries = 0, wait = 10s)]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
