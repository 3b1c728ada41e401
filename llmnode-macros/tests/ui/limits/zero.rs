// Cause: a limit of 0 would forbid every request.
// Mend: write 1 or more, or do not call the node.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", limits(requests = 0))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
