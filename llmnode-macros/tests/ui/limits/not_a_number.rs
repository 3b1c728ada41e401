// Cause: the limit is a name, and attributes are read before names have values.
// Mend: write the number; a limit known only at run time goes to `Run::with_node_limits` or `Call::limits`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", limits(requests = many))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
