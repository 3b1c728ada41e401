// Cause: the mark of the history stands twice on a field.
// Mend: drop one of the two.
use llmnode::prelude::*;

#[llm_node(prompt = "{input}")]
struct Reply {
    #[node(history)]
    #[node(history)]
    messages: Vec<Message>,
    input: String,
}

fn main() {
    let node = Reply { messages: vec![], input: "Hello!".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
