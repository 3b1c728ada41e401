// Cause: a step stands after `fallback`, which has given the value by then.
// Mend: drop the steps after it, or move `fallback` to the end.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, fallback = middle, recover(network = [fallback, retry(2)]))]
struct Rate {
    topic: String,
}

fn middle(_: &Rate, _: &llmnode::NodeError) -> u8 {
    5
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
