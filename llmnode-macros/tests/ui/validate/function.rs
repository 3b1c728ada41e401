// Cause: `#[validate]` stands on a function.
// Mend: make the function a method, in `#[validate] impl Choice { … }`.
use llmnode::validate;

#[validate]
fn is_given(item: &str) -> bool {
    !item.is_empty()
}

fn main() {
    let _ = is_given("");
}
