// Cause: the prompt names a constant; unlike `format!`, a prompt takes nothing from the scope around it.
// Mend: add a field that holds the value, or write the value into the text.
use llmnode::llm_node;

const MAX: u32 = 3;

#[llm_node(prompt = "{topic} {style} in {MAX} words")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let _ = MAX;
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
