// Cause: a field of a generic output has a type without `#[llm_output]`.
// Mend: put `#[llm_output]` on `Line`.
// Token: Line
use llmnode::prelude::*;

struct Line {
    text: String,
}

#[llm_output]
struct Page<T> {
    items: Vec<T>,
    lines: Vec<Line>,
}

#[llm_output]
struct Book {
    title: String,
}

#[llm_node(prompt = "Books of: {text}", output = Page<Book>)]
struct Read {
    text: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Read { text: "Dune".into() });
}
