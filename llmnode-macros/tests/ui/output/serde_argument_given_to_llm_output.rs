// Cause: an argument of serde's attribute is given to `llm_output`.
// Mend: write `#[serde(rename_all = "camelCase")]` below it.
use llmnode::prelude::*;

#[llm_output(rename_all = "camelCase")]
struct Choice {
    item_name: String,
}

#[llm_node(prompt = "Choose for {topic}.", output = Choice)]
struct Choose {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Choose { topic: "rain".into() });
}
