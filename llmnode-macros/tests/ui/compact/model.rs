// Cause: the model that sums up is named.
// Mend: name the node, which has a model.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", compact(model = "small"))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
