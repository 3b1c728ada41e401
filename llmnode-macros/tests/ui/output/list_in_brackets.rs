// Cause: the output is a list, written as a slice.
// Mend: write `output = Vec<Book>`.
use llmnode::prelude::*;

#[llm_output]
struct Book {
    title: String,
}

#[llm_node(prompt = "Books about {topic}", output = [Book])]
struct Ask {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Ask { topic: String::new() });
}
