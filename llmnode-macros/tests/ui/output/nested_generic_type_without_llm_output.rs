// Cause: a field's generic type lacks `#[llm_output]`; two others hold the definition with the field.
// Mend: put `#[llm_output]` on `Page`.
// Token: Page<Book>
// Token: struct Page<T>
use std::collections::HashMap;

use llmnode::prelude::*;

struct Page<T> {
    items: Vec<T>,
}

#[llm_output]
struct Book {
    title: String,
}

#[llm_output]
struct Shelf {
    page: Page<Book>,
}

#[llm_output]
struct Library {
    shelves: HashMap<String, Shelf>,
    best: Option<Box<Shelf>>,
}

#[llm_node(prompt = "Which books are in {city}?", output = Library)]
struct Find {
    city: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Find { city: "Oslo".into() });
}
