// Cause: the validator takes another state than the node's.
// Mend: let it take a reference to the type of `state`.
use llmnode::{Invalid, llm_node};

#[llm_node(prompt = "Choose.", output = u8, state = World, validate = is_allowed)]
struct Choose;

struct World;

fn is_allowed(_: &u8, allowed: &String, _: &llmnode::AttemptInfo) -> Result<(), Invalid> {
    if allowed.is_empty() { Err(Invalid::new("is not allowed")) } else { Ok(()) }
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World);
    let _ = run.call(&Choose);
}
