// Cause: a field is marked as the history, and as one to skip.
// Mend: drop `skip`; a history needs no place in a prompt.
use llmnode::prelude::*;

#[llm_node(prompt = "{input}")]
struct Reply {
    #[node(history, skip)]
    messages: Vec<Message>,
    input: String,
}

fn main() {
    let node = Reply { messages: vec![], input: "Hello!".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
