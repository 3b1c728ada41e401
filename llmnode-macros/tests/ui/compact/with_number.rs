// Cause: `with` is no type.
// Mend: name the node that sums up.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", compact(with = 3))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
