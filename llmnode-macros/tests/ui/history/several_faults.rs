// Cause: the history is inserted, a variable is misspelt, and a field is forgotten.
// Mend: drop the history's variable, and mend the other two.
use llmnode::prelude::*;

#[llm_node(system = "Be {tone}.", prompt = "{messages} {inptu}")]
struct Reply {
    #[node(history)]
    messages: Vec<Message>,
    input: String,
    tone: String,
}

fn main() {
    let node = Reply { messages: vec![], input: "Hello!".into(), tone: "brief".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
