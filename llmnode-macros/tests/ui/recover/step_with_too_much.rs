// Cause: `repair` has a wait; a correction is sent at once.
// Mend: write `repair(1)`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, recover(schema_error = [repair(1, 1s)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
