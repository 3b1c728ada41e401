// Cause: an expression of `with` names a variable of the generated code.
// Mend: use `self`, `state` and what is in scope at the node.
use llmnode::llm_node;

#[llm_node(prompt = "About {topic} {count}", with(count = to.messages().len()))]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
