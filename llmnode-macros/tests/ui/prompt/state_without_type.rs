// Cause: the prompt reads the state, and the node does not name its type.
// Mend: add `state = World`.
use llmnode::llm_node;

#[llm_node(prompt = "{state.inventory:list} {topic} {style} {state.goal}")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
