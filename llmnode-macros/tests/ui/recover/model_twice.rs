// Cause: a stack asks the same model twice.
// Mend: give `retry` or `repair` a larger number, or name another model.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [model("a"), retry(1), model("a")]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
