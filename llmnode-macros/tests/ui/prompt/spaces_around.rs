// Cause: the variable has spaces inside its braces.
// Mend: write it without them.
use llmnode::llm_node;

#[llm_node(prompt = "{ topic }")]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
