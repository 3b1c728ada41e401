// Cause: there is no such limit.
// Mend: choose one of the listed ones; requests are what counts calls.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", limits(calls = 5))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
