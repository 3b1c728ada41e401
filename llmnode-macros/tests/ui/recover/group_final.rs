// Cause: `final` is a group of failures that have nothing in common.
// Mend: name the categories one by one.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(final = [bubble]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
