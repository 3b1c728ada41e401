// Cause: the validator of a node without `output` takes something else than text.
// Mend: let its first parameter be a `&str`, or add `output = …`.
use llmnode::{Invalid, llm_node};

#[llm_node(prompt = "Choose.", validate = is_small)]
struct Choose;

fn is_small(n: &u8, _: &llmnode::AttemptInfo) -> Result<(), Invalid> {
    if *n < 10 { Ok(()) } else { Err(Invalid::new("is large")) }
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
