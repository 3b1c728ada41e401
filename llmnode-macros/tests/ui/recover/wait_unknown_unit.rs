// Cause: the unit of the time is not known.
// Mend: write `ms`, `s`, `m` or `h`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [retry(5, 10sec)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
