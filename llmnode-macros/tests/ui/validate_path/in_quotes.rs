// Cause: the path of the validator stands in quotes.
// Mend: write it without quotes.
use llmnode::llm_node;

#[llm_node(prompt = "Choose.", output = u8, validate = "is_small")]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
