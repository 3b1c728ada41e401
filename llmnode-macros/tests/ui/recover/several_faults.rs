// Cause: several steps and categories are wrong at once, and each is reported.
// Mend: mend them in any order.
// Errors: 5
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, recover(schema_error = [repair(0), retyr(1)], networ = [bubble], refusal = [repair(1)], timeout = []))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
