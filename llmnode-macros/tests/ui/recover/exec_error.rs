// Cause: `exec_error` is a failure of `exec`, and a node of `#[llm_node]` asks a model instead.
// Mend: drop it, or name what the model may fail with.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(exec_error = [retry(2)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
