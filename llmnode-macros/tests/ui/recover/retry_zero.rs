// Cause: a step of no tries does nothing.
// Mend: write 1 or more, or drop the step.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [retry(0), bubble]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
