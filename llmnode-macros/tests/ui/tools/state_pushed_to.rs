// Cause: a tool changes the state, which it borrows.
// Mend: put what changes behind a `Mutex`: tools run beside each other.
// Token: state.shelf
use llmnode::prelude::*;

struct Library {
    shelf: Vec<String>,
}

/// Puts a book on the shelf.
#[tool]
fn add(title: String, state: &Library) {
    state.shelf.push(title);
}

#[llm_node(prompt = "{question}", state = Library, tools = [Add])]
struct Librarian {
    question: String,
}

fn main() {}
