// Cause: `#[llm_node]` stands on an impl block.
// Mend: put it on the struct whose fields the prompt uses.
use llmnode::llm_node;

struct Choose;

#[llm_node(prompt = "Choose")]
impl Choose {
    fn choose(&self) {}
}

fn main() {
    Choose.choose();
}
