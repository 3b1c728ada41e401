// Cause: a variant of an enum with a `tag` holds a value that is no object.
// Mend: write `Text { value: String }`, or `#[serde(tag = "kind", content = "value")]`.
use llmnode::prelude::*;

#[llm_output]
#[serde(tag = "kind")]
enum Reply {
    Text(String),
    Steps { list: Vec<String> },
}

#[llm_node(prompt = "{question}", output = Reply)]
struct Ask {
    question: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Ask { question: "Why?".into() });
}
