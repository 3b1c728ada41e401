// Cause: the fallback's error type may not leave its thread.
// Mend: return `Box<dyn std::error::Error + Send + Sync>`, or a type of your own.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, fallback = middle)]
struct Rate {
    topic: String,
}

fn middle(_: &Rate, _: &llmnode::NodeError) -> Result<u8, Box<dyn std::error::Error>> {
    Ok(5)
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
