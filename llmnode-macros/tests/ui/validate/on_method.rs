// Cause: `#[validate]` stands on a method.
// Mend: put it on the impl block; each method of that is a validator.
use llmnode::{Invalid, llm_output, validate};

#[llm_output]
struct Choice {
    item: String,
}

impl Choice {
    #[validate]
    fn is_given(&self) -> Result<(), Invalid> {
        Ok(())
    }
}

fn main() {
    let _ = Choice { item: String::new() }.is_given();
}
