// Cause: a field of the node holds an `Rc`, which stays on one thread.
// Mend: write `Arc`.
use std::rc::Rc;

use llmnode::llm_node;

#[llm_node(prompt = "About {topic:?} in a {style} style", output = u8)]
struct Rate {
    style: String,
    topic: Rc<str>,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into(), style: "calm".into() });
}
