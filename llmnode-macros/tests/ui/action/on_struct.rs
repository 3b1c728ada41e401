// Cause: `#[derive(Action)]` stands on a struct.
// Mend: Write an enum with a variant for each action.

use llmnode::Action;

#[derive(Action)]
struct Decision;

fn main() {}
