// Cause: no function of this name is in scope.
// Mend: correct the name, or write the path, such as `Rate::middle`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, fallback = midle)]
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
