// Cause: the path of the validator names no function.
// Mend: write the name of a function that is in scope.
use llmnode::{Invalid, llm_node};

#[llm_node(prompt = "Choose.", output = u8, validate = is_smal)]
struct Choose;

fn is_small(n: &u8) -> Result<(), Invalid> {
    if *n < 10 { Ok(()) } else { Err(Invalid::new("is large")) }
}

const _: fn(&u8) -> Result<(), Invalid> = is_small;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
