// Cause: a type in the node holds an `Rc`, which stays on one thread.
// Mend: write `Arc` in that type.
use std::rc::Rc;

use llmnode::llm_node;

#[derive(Debug)]
struct Topic {
    name: Rc<str>,
}

#[llm_node(prompt = "About {topic:?}", output = u8)]
struct Rate {
    topic: Topic,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: Topic { name: "rain".into() } });
}
