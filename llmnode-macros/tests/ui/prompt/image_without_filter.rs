// Cause: the field is an image, which is no text.
// Mend: write `{photo:attach}`.
// Token: {photo}
use llmnode::{Image, prelude::*};

#[llm_node(prompt = "What does this picture show?\n{photo}")]
struct Describe {
    photo: Image,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let describe = Describe { photo: Image::url("https://example.com/photo.jpg").unwrap() };
    let _ = run.call(&describe);
}
