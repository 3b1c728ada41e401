// Cause: the prompt inserts the history, and names a variable that is no field.
// Mend: drop the history, and write the name of the field.
// Errors: 2
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
