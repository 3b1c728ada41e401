// Cause: the fallback does not take the node.
// Mend: add the parameter, `fn(&Rate, &World, &NodeError)`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, state = World, fallback = middle)]
struct Rate {
    topic: String,
}

struct World;

fn middle(_: &llmnode::NodeError) -> u8 {
    5
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World);
    let _ = run.call(&Rate { topic: "rain".into() });
}
