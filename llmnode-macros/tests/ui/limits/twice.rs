// Cause: a limit is given twice.
// Mend: keep one of the two.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", limits(tokens = 500, tokens = 600))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
