// Cause: the prompt inserts the field that holds the history.
// Mend: drop the variable; the history's messages stand before the user message by themselves.
use llmnode::prelude::*;

#[llm_node(prompt = "{messages}\n{input}")]
struct Reply {
    #[node(history)]
    messages: Vec<Message>,
    input: String,
}

fn main() {
    let node = Reply { messages: vec![], input: "Hello!".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
