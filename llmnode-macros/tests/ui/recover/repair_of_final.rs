// Cause: a refusal is no answer that could be corrected.
// Mend: ask another model, or give a fallback.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, recover(refusal = [repair(2)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
