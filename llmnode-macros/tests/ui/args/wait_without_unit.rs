// Cause: the wait is a number without a unit.
// Mend: write `10s`, `500ms` or a range such as `1s..60s`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", wait = 10)]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
