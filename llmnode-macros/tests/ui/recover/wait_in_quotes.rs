// Cause: the time stands in quotes.
// Mend: write it without them, `10s`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [retry(5, "10s")]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
