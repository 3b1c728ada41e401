// Cause: `#[validate]` stands on a type alias.
// Mend: put it on an impl block of the type that the alias names.
use llmnode::validate;

#[validate]
type Choose = String;

fn main() {
    let _ = Choose::new();
}
