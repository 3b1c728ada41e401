// Cause: the validator takes a state, and the node names none.
// Mend: add `state = …` to the node, or drop the parameter.
use llmnode::{Invalid, llm_node};

#[llm_node(prompt = "Choose.", output = u8, validate = is_allowed)]
struct Choose;

struct World;

fn is_allowed(_: &u8, _: &World, _: &llmnode::AttemptInfo) -> Result<(), Invalid> {
    Ok(())
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
