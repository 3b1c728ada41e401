// Cause: the prompt is read by `include_str!`, so that the macro does not see its text.
// Mend: write `prompt_file = "…"`.
// Token: include_str!("../file/prompts/json.md")
use llmnode::prelude::*;

#[llm_node(prompt = include_str!("../file/prompts/json.md"))]
struct Haiku {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain".into() };
    let _ = run.call(&haiku);
}
