// Cause: the validator is called, and not named.
// Mend: write the path of the function without parentheses.
use llmnode::llm_node;

#[llm_node(prompt = "Choose.", output = u8, validate = is_small())]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
