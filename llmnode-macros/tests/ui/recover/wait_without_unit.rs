// Cause: the wait is a bare number.
// Mend: add the unit, `10s`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [retry(5, 10)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
