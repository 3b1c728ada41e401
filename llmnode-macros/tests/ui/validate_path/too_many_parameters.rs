// Cause: the validator takes more than there is.
// Mend: let it take the answer, the state and the attempt.
use llmnode::{Invalid, llm_node};

#[llm_node(prompt = "Choose.", output = u8, state = World, validate = is_small)]
struct Choose;

struct World;

fn is_small(n: &u8, _: &World, _: &llmnode::AttemptInfo, most: &u8) -> Result<(), Invalid> {
    if n < most { Ok(()) } else { Err(Invalid::new("is large")) }
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World);
    let _ = run.call(&Choose);
}
