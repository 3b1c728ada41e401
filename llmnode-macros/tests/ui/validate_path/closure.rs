// Cause: the validator is a closure.
// Mend: make it a function, and write its path.
use llmnode::llm_node;

#[llm_node(prompt = "Choose.", output = u8, validate = |n: &u8| if *n < 10 { Ok(()) } else { Err(Invalid::new("is large")) })]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
