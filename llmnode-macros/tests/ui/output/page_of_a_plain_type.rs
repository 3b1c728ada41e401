// Cause: the type that fills a generic output lacks `#[llm_output]`.
// Mend: put `#[llm_output]` on `Book`.
// Token: Book
use llmnode::prelude::*;

#[llm_output]
struct Page<T> {
    items: Vec<T>,
}

struct Book {
    title: String,
}

#[llm_node(prompt = "Which books does this text name?\n{text:fence}", output = Page<Book>)]
struct FindBooks {
    text: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&FindBooks { text: "Dune.".into() });
}
