// Cause: the width of a variable is another variable.
// Mend: write the number.
use llmnode::llm_node;

#[llm_node(prompt = "{topic:>width$}")]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
