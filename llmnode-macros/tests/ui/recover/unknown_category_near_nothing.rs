// Cause: there is no such category.
// Mend: choose one of the listed ones.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(hiccup = [bubble]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
