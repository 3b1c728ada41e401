// Cause: the prompt has a condition, as in Jinja.
// Mend: compute the text by `with(..)`, or write `{style:or(none)}` for an `Option`.
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {topic}. {% if style %}In the style of {style}.{% endif %}")]
struct Haiku {
    topic: String,
    style: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Haiku { topic: "rain".into(), style: "Basho".into() });
}
