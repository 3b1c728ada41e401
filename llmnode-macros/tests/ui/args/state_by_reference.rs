// Cause: the state's type is written as a reference.
// Mend: write the type alone, `state = World`; the run lends it.
use llmnode::llm_node;

struct World;

#[llm_node(prompt = "{topic}", state = &World)]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
