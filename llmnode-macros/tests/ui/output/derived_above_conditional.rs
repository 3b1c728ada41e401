// Cause: `#[llm_output]` stands below a derive, in a `cfg_attr`; it derives again what is derived above it.
// Mend: move the attribute above the derives.
use llmnode::{llm_node, llm_output};

#[derive(serde::Deserialize)]
#[cfg_attr(all(), llm_output)]
struct Choice {
    item: String,
}

#[llm_node(prompt = "Choose.", output = Choice)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = Choice { item: String::new() }.item;
    let _ = run.call(&Choose);
}
