// Cause: serde's attribute names a function without quotes.
// Mend: write `default = "Vec::new"`.
// Token: Vec::new
use llmnode::prelude::*;

#[llm_output]
struct Cart {
    #[serde(default = Vec::new)]
    items: Vec<String>,
}

#[llm_node(prompt = "Read the cart: {text}", output = Cart)]
struct Read {
    text: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Read { text: "milk".into() });
}
