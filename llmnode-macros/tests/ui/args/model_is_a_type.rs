// Cause: the model is named by the type of its client.
// Mend: write the model's name, `model = "…"`, and give the client to `Run::new`.
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {topic}.", model = OpenAi)]
struct Haiku {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Haiku { topic: "rain".into() });
}
