// Cause: a category has two stacks of steps.
// Mend: put all steps into one list.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [retry(1)], network = [bubble]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
