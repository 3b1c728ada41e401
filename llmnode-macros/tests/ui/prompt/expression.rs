// Cause: the prompt calls a method, and a prompt does not compute.
// Mend: add a field that holds the value, and name the field.
use llmnode::llm_node;

struct World {
    files: Vec<String>,
}

#[llm_node(prompt = "{topic} {style}\n{state.files.len()} files", state = World)]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World { files: vec![] });
    let _ = (run.call(&node), &run.state().files);
}
