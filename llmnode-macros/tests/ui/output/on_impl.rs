// Cause: `#[llm_output]` stands on an impl block.
// Mend: put it on the definition of the type; `#[validate]` goes on the impl block.
use llmnode::llm_output;

struct Choose;

#[llm_output]
impl Choose {
    fn choose(&self) {}
}

fn main() {
    Choose.choose();
}
