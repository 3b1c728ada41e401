// Cause: steps stand outside the brackets of a category.
// Mend: write `answer = [repair(2), model("big"), fallback]`.
use llmnode::prelude::*;

#[llm_node(
    prompt = "How many stars, 1 to 5?\n{review}",
    output = u8,
    recover(answer = [repair(2)], transport = [retry(2)], model("big"), fallback),
    fallback = Stars::unknown,
)]
struct Stars {
    review: String,
}

impl Stars {
    fn unknown(&self, _: &NodeError) -> u8 {
        3
    }
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Stars { review: "..".into() });
}
