// Cause: the node has a state, and the fallback does not take it.
// Mend: let the fallback take the state between the node and the error: `fn(&Rate, &World, &NodeError)`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, state = World, fallback = middle)]
struct Rate {
    topic: String,
}

struct World;

fn middle(_: &Rate, _: &llmnode::NodeError) -> u8 {
    5
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World);
    let _ = run.call(&Rate { topic: "rain".into() });
}
