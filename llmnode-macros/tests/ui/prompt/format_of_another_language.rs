// Cause: the number has a format with a letter for its type, as in Python.
// Mend: write `{price:.2}`.
use llmnode::llm_node;

#[llm_node(prompt = "It costs {price:.2f} euros.")]
struct Explain {
    price: f64,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Explain { price: 1.0 });
}
