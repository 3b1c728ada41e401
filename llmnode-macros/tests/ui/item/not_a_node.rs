// Cause: the struct lacks `#[llm_node]`.
// Mend: put the attribute, with its prompt, above the struct.
use llmnode::prelude::*;

struct Haiku {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain".into() };
    let _ = (run.call(&haiku), &haiku.topic);
}
