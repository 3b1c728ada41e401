// Cause: `recover` is written with an equals sign.
// Mend: write `recover(…)`, with a category for each list of steps.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, recover = [repair(2)], max_tokens = 5)]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
