// Cause: three limits are wrong at once, and each is reported.
// Mend: mend them in any order.
// Errors: 3
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", limits(request = 5, tokens = -1, money = soon))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
