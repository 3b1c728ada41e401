// Cause: a limit of time is that of a whole run.
// Mend: write `deadline = 30s` beside `limits`, for the longest time of a call.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", limits(time = 30s))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
