// Cause: the validator does not take the attempt.
// Mend: take it as the last parameter: `_: &llmnode::AttemptInfo`.
use llmnode::{Invalid, llm_node};

#[llm_node(prompt = "Choose.", output = u8, validate = is_small)]
struct Choose;

fn is_small(n: &u8) -> Result<(), Invalid> {
    if *n < 10 { Ok(()) } else { Err(Invalid::new("is large")) }
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
