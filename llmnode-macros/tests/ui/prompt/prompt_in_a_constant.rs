// Cause: the prompt is a constant, which a macro cannot read.
// Mend: write the text itself, or put it into a file: `prompt_file = "haiku.md"`.
use llmnode::prelude::*;

const PROMPT: &str = "Write a haiku about {topic}.";

#[llm_node(prompt = PROMPT)]
struct Haiku {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Haiku { topic: "rain".into() });
}
