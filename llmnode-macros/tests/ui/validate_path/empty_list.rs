// Cause: the list of validators is empty.
// Mend: drop the argument, or name a function.
use llmnode::llm_node;

#[llm_node(prompt = "Choose.", output = u8, validate = [])]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
