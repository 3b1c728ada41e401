// Cause: two steps stand side by side.
// Mend: write a comma between them.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [retry(1) bubble]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
