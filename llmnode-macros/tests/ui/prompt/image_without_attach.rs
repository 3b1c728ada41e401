// Cause: an image has no form as text.
// Mend: write `{photo:attach}`, which makes it a part of the message.
use llmnode::{Image, llm_node};

#[llm_node(prompt = "What is this?\n{photo}")]
struct Describe {
    photo: Image,
}

fn main() -> Result<(), llmnode::NodeError> {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Describe { photo: Image::url("https://example.com/cat.png")? });
    Ok(())
}
