// Cause: the field's type parameter may be a type that has no form as text.
// Mend: bound it, `struct Haiku<T: std::fmt::Display>`.
// Token: T
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {topic}.")]
struct Haiku<T> {
    topic: T,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: 5 };
    let _ = run.call(&haiku);
}
