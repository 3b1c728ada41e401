// Cause: categories have no `= [steps]`.
// Mend: write `category = [steps]` for each.
// Errors: 4
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, recover(schema_error[repair(2)], timeout: [retry(2)], refusal, limit_exceeded =))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
