// Cause: one of several validators takes another type than the output.
// Mend: let its first parameter be a reference to the type of `output`.
use llmnode::{Invalid, llm_node};

#[llm_node(prompt = "Choose.", output = u8, validate = [is_small, is_short])]
struct Choose;

fn is_small(n: &u8, _: &llmnode::AttemptInfo) -> Result<(), Invalid> {
    if *n < 10 { Ok(()) } else { Err(Invalid::new("is large")) }
}

fn is_short(text: &str, _: &llmnode::AttemptInfo) -> Result<(), Invalid> {
    if text.len() < 10 { Ok(()) } else { Err(Invalid::new("is long")) }
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
