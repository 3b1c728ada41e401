// Cause: the prompt names a variable that is no field of the node.
// Mend: write the name of a field, or add the field.
use llmnode::llm_node;

struct World {
    inventory: Vec<String>,
}

#[llm_node(
    prompt = "Über {topik}\n{state.inventory:list}\nin a {style:?} style",
    state = World,
)]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World { inventory: vec![] });
    let _ = run.call(&node);
}
