// Cause: the function's name stands in quotes.
// Mend: write the path itself.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, fallback = "middle")]
struct Rate {
    topic: String,
}

fn middle(_: &Rate, _: &llmnode::NodeError) -> u8 {
    5
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
