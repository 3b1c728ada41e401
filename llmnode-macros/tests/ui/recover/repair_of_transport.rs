// Cause: the request failed on its way, so there is no answer to correct.
// Mend: write `retry(2)`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [repair(2)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
