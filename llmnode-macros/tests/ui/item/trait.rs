// Cause: `#[llm_node]` stands on a trait.
// Mend: put it on the struct whose fields the prompt uses.
use llmnode::llm_node;

#[llm_node(prompt = "Choose")]
trait Choose {
    fn choose(&self);
}

fn main() {
    fn _of(_: &dyn Choose) {}
}
