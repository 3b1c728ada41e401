// Cause: `#[validate]` stands on a trait.
// Mend: write the validators as methods of the answer's type, in `#[validate] impl Choice { … }`.
use llmnode::validate;

#[validate]
trait Choose {
    fn choose(&self);
}

fn main() {
    fn _of(_: &dyn Choose) {}
}
