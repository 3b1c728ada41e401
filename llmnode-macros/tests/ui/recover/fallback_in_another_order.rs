// Cause: the fallback takes its arguments in another order.
// Mend: take the node, the state and the error, in this order.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, state = World, fallback = middle)]
struct Rate {
    topic: String,
}

struct World;

fn middle(_: &World, _: &Rate, _: &llmnode::NodeError) -> u8 {
    5
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World);
    let _ = run.call(&Rate { topic: "rain".into() });
}
