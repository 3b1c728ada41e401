// Cause: the path names something else than a function.
// Mend: write the path of a function.
use llmnode::llm_node;

#[llm_node(prompt = "Choose.", output = u8, validate = MOST)]
struct Choose;

const MOST: u8 = 10;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
