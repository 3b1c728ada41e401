// Cause: `at` is a text.
// Mend: write a number.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", compact(at = "80 %"))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
