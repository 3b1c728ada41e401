// Cause: a block of validators is for one argument of a generic type.
// Mend: write `impl<T> Page<T>`, or give that argument a struct of its own.
use llmnode::prelude::*;

#[llm_output]
struct Book {
    title: String,
}

#[llm_output]
struct Page<T> {
    items: Vec<T>,
}

#[validate]
impl Page<Book> {
    fn has_books(&self) -> Result<(), Invalid> {
        if self.items.is_empty() { Err(Invalid::at("items", "is empty")) } else { Ok(()) }
    }
}

#[llm_node(prompt = "List the books.", output = Page<Book>)]
struct List;

fn main() {}
