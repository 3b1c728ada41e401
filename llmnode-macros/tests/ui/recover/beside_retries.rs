// Cause: two places say how often a bad answer is corrected.
// Mend: keep the number in `repair(…)` and drop `retries`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, retries = 2, recover(answer = [repair(2)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
