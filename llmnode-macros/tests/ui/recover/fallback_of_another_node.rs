// Cause: the fallback takes something else than the node.
// Mend: let it take `&Rate`, `&NodeError`, and return the output.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, fallback = middle)]
struct Rate {
    topic: String,
}

fn middle(_: &str, _: &llmnode::NodeError) -> u8 {
    5
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
