// Cause: the name of the model is empty.
// Mend: write the name that `Run::model` registered, or the provider's id.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [model("")]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
