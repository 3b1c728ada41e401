// Cause: a used-up quota is still used up a moment later.
// Mend: ask another model, give a fallback, or return the error.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(quota_error = [retry(2), bubble]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
