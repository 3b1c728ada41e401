// Cause: the validator returns something else than `Result<(), Invalid>`.
// Mend: return `Ok(())`, or an `Invalid` that says what is wrong.
use llmnode::llm_node;

#[llm_node(prompt = "Choose.", output = u8, validate = is_small)]
struct Choose;

fn is_small(n: &u8, _: &llmnode::AttemptInfo) -> bool {
    *n < 10
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
