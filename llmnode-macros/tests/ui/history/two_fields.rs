// Cause: two fields are marked as the history.
// Mend: keep all earlier messages in one field.
use llmnode::prelude::*;

#[llm_node(prompt = "{input}")]
struct Reply {
    #[node(history)]
    messages: Vec<Message>,
    #[node(history)]
    more: Vec<Message>,
    input: String,
}

fn main() {
    let node = Reply { messages: vec![], more: vec![], input: "Hello!".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
