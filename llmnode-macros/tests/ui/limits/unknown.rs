// Cause: the name of a limit is misspelt.
// Mend: write the name that the message proposes.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", limits(token = 500))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
