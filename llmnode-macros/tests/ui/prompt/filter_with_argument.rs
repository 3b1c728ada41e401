// Cause: the filter has an argument and takes none.
// Mend: drop the parentheses.
use llmnode::llm_node;

#[llm_node(prompt = "{topic:list(3)}")]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
