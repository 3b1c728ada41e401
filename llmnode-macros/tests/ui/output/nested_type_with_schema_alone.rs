// Cause: a field's type has a schema, and not serde's traits.
// Mend: put `#[llm_output]` on `Line`, in place of its derive.
// Token: Line
use llmnode::prelude::*;

#[derive(schemars::JsonSchema)]
struct Line {
    text: String,
}

#[llm_output]
struct Page {
    lines: Vec<Line>,
}

#[llm_node(prompt = "Lines of: {text}", output = Page)]
struct Read {
    text: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Read { text: "Dune".into() });
}
