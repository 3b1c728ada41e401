// Cause: `:attach` is for images, files and sound, and the field is none of them.
// Mend: write `{photo}` for text, or give the field the type `Image`, `File` or `Audio`.
use llmnode::llm_node;

#[llm_node(prompt = "What is this?\n{photo:attach}")]
struct Describe {
    photo: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Describe { photo: "cat.png".into() });
}
