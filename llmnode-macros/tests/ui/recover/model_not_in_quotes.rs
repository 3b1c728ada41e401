// Cause: the model's name stands without quotes.
// Mend: write `model("small")`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [model(small)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
