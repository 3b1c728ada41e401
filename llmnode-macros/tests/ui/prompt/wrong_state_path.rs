// Cause: the path names a field that the state's type does not have.
// Mend: correct the name at the line and column of the prompt that stand in the type's name, or add the field to the state.
use llmnode::llm_node;

struct World {
    inventory: Vec<String>,
}

#[llm_node(
    prompt = "About {topic} in a {style} style:
        {state.inventori:list}",
    state = World,
)]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World { inventory: vec![] });
    let _ = (run.call(&node), &run.state().inventory);
}
