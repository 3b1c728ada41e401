// Cause: the node's fields have no names, so a prompt cannot name them.
// Mend: write `struct Choose { item: String }` and `{item}`.
use llmnode::llm_node;

#[llm_node(prompt = "Choose {0}")]
struct Choose(String);

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose(String::new()));
}
