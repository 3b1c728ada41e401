// Cause: two lines of a joined prompt have a fault each.
// Mend: close the brace, or double it, and name the value by a field.
// Errors: 2
use llmnode::llm_node;

#[llm_node(prompt = ::core::concat!(
    "About {topic",
    " in a {style} style:\n",
    "{}\n",
))]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
