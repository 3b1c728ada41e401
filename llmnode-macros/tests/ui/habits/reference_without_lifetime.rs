// Cause: the field is a reference without a lifetime, which Rust takes in functions only.
// Mend: write `topic: &'static str`, or `struct Haiku<'a> { topic: &'a str }`.
// Token: &
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {topic}.")]
struct Haiku {
    topic: &str,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain" };
    let _ = run.call(&haiku);
}
