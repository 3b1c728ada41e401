// Cause: the mark of the history is misspelt.
// Mend: write `history`.
use llmnode::prelude::*;

#[llm_node(prompt = "{input}")]
struct Reply {
    #[node(histroy)]
    messages: Vec<Message>,
    input: String,
}

fn main() {
    let node = Reply { messages: vec![], input: "Hello!".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
