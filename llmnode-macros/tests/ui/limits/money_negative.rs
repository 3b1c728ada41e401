// Cause: the limit of money is negative.
// Mend: write more than 0.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", limits(money = -0.5))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
