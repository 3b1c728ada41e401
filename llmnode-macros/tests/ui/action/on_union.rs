// Cause: `#[derive(Action)]` stands on a union.
// Mend: Write an enum with a variant for each action.

use llmnode::Action;

#[derive(Action)]
union Decision {
    search: u8,
}

fn main() {}
