// Cause: the history is an `Option`.
// Mend: drop the `Option`; an empty history adds nothing.
use llmnode::prelude::*;

#[llm_node(prompt = "{input}")]
struct Reply {
    #[node(history)]
    messages: Option<Vec<Message>>,
    input: String,
}

fn main() {
    let node = Reply { messages: None, input: "Hello!".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
