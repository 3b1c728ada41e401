// Cause: the fallback gives another type than the node's `output`.
// Mend: let it return `Result<u8, E>`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, fallback = middle)]
struct Rate {
    topic: String,
}

fn middle(_: &Rate, _: &llmnode::NodeError) -> Result<String, llmnode::NodeError> {
    Ok("five".into())
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
