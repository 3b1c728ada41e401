// Cause: the node reads the state `World`, and the run carries another one.
// Mend: give the run the node's state, `Run::new(model).with_state(world)`.
use llmnode::llm_node;

struct World;
struct Other;

#[llm_node(prompt = "About {topic} in a {style} style", state = World)]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(Other);
    let _ = run.call(&node);
    let _ = World;
}
