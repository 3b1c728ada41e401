// Cause: the fallback takes another state than the node.
// Mend: let it take the type that the node names as `state`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, state = World, fallback = middle)]
struct Rate {
    topic: String,
}

struct World;

fn middle(_: &Rate, _: &u8, _: &llmnode::NodeError) -> u8 {
    5
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World);
    let _ = run.call(&Rate { topic: "rain".into() });
}
