// Cause: `#[validate]` stands on the implementation of a trait.
// Mend: move the validators to an `impl Choice { … }`.
use llmnode::{llm_output, validate};

#[llm_output]
struct Choice {
    item: String,
}

trait Given {
    fn is_given(&self) -> bool;
}

#[validate]
impl Given for Choice {
    fn is_given(&self) -> bool {
        !self.item.is_empty()
    }
}

fn main() {
    let _ = Choice { item: String::new() }.is_given();
}
