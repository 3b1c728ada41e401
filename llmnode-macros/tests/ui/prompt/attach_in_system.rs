// Cause: the system message attaches something, and system messages are text.
// Mend: attach it in `prompt`.
use llmnode::{Image, llm_node};

#[llm_node(system = "You know {photo:attach} well.", prompt = "Who is this?")]
struct Describe {
    photo: Image,
}

fn main() -> Result<(), llmnode::NodeError> {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Describe { photo: Image::url("https://example.com/cat.png")? });
    Ok(())
}
