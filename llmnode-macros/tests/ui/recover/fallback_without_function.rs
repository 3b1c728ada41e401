// Cause: a stack has the step `fallback`, and the node names no function.
// Mend: add `fallback = path` to the attribute.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, recover(schema_error = [repair(2), fallback]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
