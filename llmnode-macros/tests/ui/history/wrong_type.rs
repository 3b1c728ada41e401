// Cause: the field that is marked as the history holds texts.
// Mend: make it a `Vec<Message>`, with `Message::user(..)` and `Message::assistant(..)`.
use llmnode::prelude::*;

#[llm_node(prompt = "{input}")]
struct Reply {
    #[node(history)]
    messages: Vec<String>,
    input: String,
}

fn main() {
    let node = Reply { messages: vec![], input: "Hello!".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
