// Cause: the validator takes the attempt where the state stands.
// Mend: let it take the answer, the state and the attempt, in this order.
use llmnode::{Invalid, llm_node};

#[llm_node(prompt = "Choose.", output = u8, state = World, validate = is_allowed)]
struct Choose;

struct World;

fn is_allowed(_: &u8, attempt: &llmnode::AttemptInfo, _: &World) -> Result<(), Invalid> {
    if attempt.is_last() { Ok(()) } else { Err(Invalid::new("is not allowed yet")) }
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World);
    let _ = run.call(&Choose);
}
