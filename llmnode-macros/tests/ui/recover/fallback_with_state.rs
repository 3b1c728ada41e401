// Cause: the fallback takes a state, and the node has none.
// Mend: add `state = World` to the node, or drop the parameter.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, fallback = middle)]
struct Rate {
    topic: String,
}

struct World;

fn middle(_: &Rate, _: &World, _: &llmnode::NodeError) -> u8 {
    5
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
