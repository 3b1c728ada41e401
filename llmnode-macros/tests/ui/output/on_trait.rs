// Cause: `#[llm_output]` stands on a trait.
// Mend: put it on the struct or enum that the node names as `output`.
use llmnode::llm_output;

#[llm_output]
trait Choose {
    fn choose(&self);
}

fn main() {
    fn _of(_: &dyn Choose) {}
}
