// Cause: the variable is written as in a shell.
// Mend: write `{name}`.
use llmnode::llm_node;

#[llm_node(prompt = "Hi ${name}, welcome.")]
struct Greet {
    name: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Greet { name: "Ann".into() });
}
