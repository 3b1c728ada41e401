// Cause: `#[llm_node]` stands on an enum, whose variants differ in their fields.
// Mend: make the node a struct, with a field of the enum if the prompt needs it.
use llmnode::llm_node;

#[llm_node(prompt = "Choose")]
enum Choose {
    A,
    B,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = (run.call(&Choose::A), run.call(&Choose::B));
}
