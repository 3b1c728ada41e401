// Cause: a variable has a conversion of Python.
// Mend: write `{name:?}`.
// Token: name!r
use llmnode::llm_node;

#[llm_node(prompt = "Greet {name!r} kindly.")]
struct Greet {
    name: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Greet { name: "Ada".into() });
}
