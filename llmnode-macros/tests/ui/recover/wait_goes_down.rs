// Cause: the range of waits begins with the longer time.
// Mend: write the shorter time first, `1s..60s`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [retry(5, 60s..1s)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
