// Cause: `:attach` has an argument and takes none.
// Mend: drop the parentheses; how closely a model looks is said where the image is made, by `Image::detail`.
use llmnode::{Image, llm_node};

#[llm_node(prompt = "What is this?\n{photo:attach(low)}")]
struct Describe {
    photo: Image,
}

fn main() -> Result<(), llmnode::NodeError> {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Describe { photo: Image::url("https://example.com/cat.png")? });
    Ok(())
}
