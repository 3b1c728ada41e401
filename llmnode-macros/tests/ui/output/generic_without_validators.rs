// Cause: a type fills the type parameter of an output and does not say whether it has validators.
// Mend: write `#[validate] impl Choice {}` beside the type.
use llmnode::{llm_node, llm_output};

#[llm_output]
struct Choice {
    item: String,
}

#[llm_output]
struct Pair<T> {
    left: T,
    right: T,
}

#[llm_node(prompt = "Choose.", output = Pair<Choice>)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
