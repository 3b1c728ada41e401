// Cause: the field is named through `self`, as in Rust code.
// Mend: write the field's name alone, `{topic}`.
// Token: {self.topic}
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {self.topic}.")]
struct Haiku {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain".into() };
    let _ = run.call(&haiku);
}
