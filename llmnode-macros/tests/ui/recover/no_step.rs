// Cause: a category has an empty list of steps.
// Mend: write `[bubble]`, which returns the error.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, recover(schema_error = []))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
