// Cause: the error of the validator is no `Invalid`.
// Mend: return `Invalid`, which `?` makes of an error of the program.
use llmnode::llm_node;

#[llm_node(prompt = "Choose.", output = u8, validate = is_small)]
struct Choose;

fn is_small(n: &u8, _: &llmnode::AttemptInfo) -> Result<(), String> {
    if *n < 10 { Ok(()) } else { Err("is large".into()) }
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
