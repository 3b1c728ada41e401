// Cause: a step stands after `bubble`, which has returned the error by then.
// Mend: drop the steps after it, or move `bubble` to the end.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [retry(2), bubble, model("big"), retry(2)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
