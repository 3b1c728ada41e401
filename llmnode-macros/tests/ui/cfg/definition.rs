// Cause: a field of a type with derives of its own stands there in some builds only.
// Mend: write the type once for each build, below `#[cfg(…)]`.
use llmnode::{llm_node, llm_output};

#[llm_output]
struct Size {
    width: u8,
}

#[llmnode::validate]
#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Choice {
    item: String,
    #[cfg(not(debug_assertions))]
    size: Size,
}

#[llm_node(prompt = "Choose.", output = Choice)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
    let _ = Choice { item: String::new() };
    let _ = Size { width: 1 }.width;
}
