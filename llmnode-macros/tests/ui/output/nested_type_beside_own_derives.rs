// Cause: a field's type lacks `#[llm_output]`, and the definition around it has serde's derives of its own.
// Mend: put `#[llm_output]` on `Line`.
// Token: Line
use llmnode::prelude::*;

struct Line {
    text: String,
}

#[llm_output]
#[derive(serde::Serialize, serde::Deserialize)]
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
