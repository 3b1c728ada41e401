// Cause: the prompt names a variable that is no field of the node.
// Mend: add the field, or drop the variable.
use llmnode::llm_node;

#[llm_node(prompt = "{topic} {weather}")]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
